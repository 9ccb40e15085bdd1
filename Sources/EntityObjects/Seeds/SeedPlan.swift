import EntityModel
import EntityStore

/// The objects of a seed file, checked against a schema.
struct SeedPlan: Sendable {
  /// The objects by entity, in the order of the file. An entity comes after the entities that its
  /// records require.
  var objects: [SeedObject] = []

  /// The number of objects by entity.
  var counts: [String: Int] {
    objects.reduce(into: [:]) { $0[$1.entity.name, default: 0] += 1 }
  }
}

/// One record to be inserted.
struct SeedObject: Sendable {
  let entity: EntityDescription
  let place: SeedPlace
  let label: String?
  /// The values by attribute name.
  var values: [String: Value] = [:]
  /// The links by relationship, in the order of the schema.
  var links: [(relationship: RelationshipDescription, targets: [SeedTarget])] = []
}

/// Another record with which an object is to be linked.
struct SeedTarget: Sendable {
  enum Key: Sendable {
    /// The label of an object of the same file.
    case label(String)
    /// The values of a record in a unique index on exactly these attributes.
    case attributes([String: Value])
  }

  let entity: String
  let key: Key
  let place: SeedPlace
}

/// A place in a seed file, described in the terms of its format.
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
      .seed, "a seed file is invalid", [("at", place.description), ("problem", problem)])
  }

  /// Returns the same error with the place in the file.
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
  /// Returns true if a record of the entity cannot be inserted without the link.
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
