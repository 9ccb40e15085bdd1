import EntityModel
import EntityStore

/// The objects of a seed file, read by a schema.
struct SeedPlan: Sendable {
  /// The objects of each entity in the order of the file. An entity comes after those that its
  /// records cannot be without.
  var objects: [SeedObject] = []

  /// By entity.
  var counts: [String: Int] {
    objects.reduce(into: [:]) { $0[$1.entity.name, default: 0] += 1 }
  }
}

/// One record to be made.
struct SeedObject: Sendable {
  let entity: EntityDescription
  let place: SeedPlace
  let label: String?
  /// By attribute name.
  var values: [String: Value] = [:]
  /// By relationship, in the order of the schema.
  var links: [(relationship: RelationshipDescription, targets: [SeedTarget])] = []
}

/// Another record that an object is to be linked with.
struct SeedTarget: Sendable {
  enum Key: Sendable {
    /// An object of the same file.
    case label(String)
    /// A record that has these values in a unique index on exactly these attributes.
    case attributes([String: Value])
  }

  let entity: String
  let key: Key
  let place: SeedPlace
}

/// A place in a seed file, in the words of its format.
enum SeedPlace: Sendable, CustomStringConvertible {
  case line(Int, column: Int, file: String)
  case path(String)

  var description: String {
    switch self {
    case .line(let line, let column, let file): "\(file):\(line):\(column)"
    case .path(let path): path
    }
  }
}

extension StoreError {
  static func seed(at place: SeedPlace, _ problem: String) -> StoreError {
    StoreError(
      .seed, "a seed file is wrong", [("at", place.description), ("problem", problem)])
  }

  /// The same refusal, with the place in the file of what was refused.
  func ofSeed(at place: SeedPlace) -> StoreError {
    switch code {
    case .validation, .uniqueViolation, .invalidRequest, .missingRecord, .deletionDenied,
      .unknownEntity, .unknownAttribute, .unknownRelationship:
      StoreError(
        code, "the store refuses what a seed file holds",
        [("at", place.description), ("problem", description)], object: object, property: property)
    default: self
    }
  }
}

extension RelationshipDescription {
  /// Whether a record of the entity cannot be made without the link.
  func isNeeded(by entity: EntityDescription) -> Bool {
    let held: [Int] =
      switch storage {
      case .reference(let attribute, _): [attribute]
      case .key(let pairs, _): pairs.map(\.own)
      case .inverse, .link: []
      }
    return entity.attributes.contains { held.contains($0.id) && !$0.isOptional }
  }
}
