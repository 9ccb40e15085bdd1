import EntityModel

/// An entity of a random schema, as the generator, the naive evaluator and the SQL side see it.
struct ModelEntity: Sendable {
  var name: String
  /// Without the attributes that relationships are stored in.
  var attributes: [AttributeDescription]
  var indexes: [ModelIndex] = []
  var relationships: [ModelRelationship] = []
  /// The few values that records draw from, by attribute name, so that equal ones are common.
  var pools: [String: [Value]] = [:]
  /// Attributes whose sums and products are exact and stay within 64 bits.
  var summable: Set<String> = []

  func attribute(_ name: String) -> AttributeDescription? { attributes.first { $0.name == name } }

  func relationship(_ name: String) -> ModelRelationship? {
    relationships.first { $0.name == name }
  }

  /// The columns of a row request that names none: each attribute and each stored link.
  var defaultColumns: [String] {
    attributes.map(\.name) + relationships.filter { $0.storage == .reference }.map(\.name)
  }
}

struct ModelIndex: Sendable {
  struct Key: Sendable {
    var attribute: String
    var isDescending = false
    var collation = Collation.binary
  }
  var name: String
  var keys: [Key]
  var isUnique = false
  var isSparse = false
}

struct ModelRelationship: Sendable {
  enum Storage: Hashable, Sendable {
    /// To-one: the record stores the id of the other one under the name of the relationship.
    case reference
    /// To-one: the destination is the record whose `other` equals `own` of this one.
    case key(own: String, other: String)
    /// To-many: the records whose to-one relationship leads to this one.
    case inverse(of: String)
    /// To-many on both sides; the first side has the list of numbers.
    case firstOfLink
    case secondOfLink(of: String)
  }
  var name: String
  var destination: String
  var storage: Storage
  var isOrdered = false

  var isToMany: Bool {
    switch storage {
    case .reference, .key: false
    case .inverse, .firstOfLink, .secondOfLink: true
    }
  }
}
