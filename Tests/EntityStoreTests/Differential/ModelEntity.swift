import EntityModel

/// An entity of a random schema, as the generator, the naive evaluator and the SQL side see it.
struct ModelEntity: Sendable {
  var name: String
  /// Without the attributes that relationships are stored in.
  var attributes: [AttributeDescription]
  var indexes: [ModelIndex] = []
  var relationships: [ModelRelationship] = []
  /// By attribute: the few values that records draw from, so that equal ones are common.
  var pools: [String: [Value]] = [:]
  /// Attributes whose sums and products are exact and stay within 64 bits.
  var summable: Set<String> = []

  func attribute(_ name: String) -> AttributeDescription? { attributes.first { $0.name == name } }

  func relationship(_ name: String) -> ModelRelationship? {
    relationships.first { $0.name == name }
  }

  /// What a row shows that names no columns: each attribute, and each link that the record holds.
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
    /// To-one: the record holds the other one's number under the relationship's name.
    case reference
    /// To-one: the other record has `other` equal to this one's `own`.
    case key(own: String, other: String)
    /// To-many: those that lead here by their to-one relationship.
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
