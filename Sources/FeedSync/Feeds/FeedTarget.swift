import EntityModel
import EntityStore
import FeedDocuments
import Foundation

/// An entity that takes items of a feed, with the positions of the attributes that the sync uses.
///
/// A class, because each mapped item refers to it.
final class FeedTarget: Sendable {
  /// The type of an attribute.
  struct Shape: Sendable {
    let kind: ValueKind
    let isOptional: Bool
  }

  let entity: EntityLayout
  /// The unique index on `id` and `feedID`.
  let index: IndexLayout
  let id: Int
  let feedID: Int
  let revision: Int
  let hash: Int
  let updatedAt: Int?
  /// The attributes that the feed owns, by name, without those of the sync itself.
  let feedAttributes: [String: Int]
  /// The attributes that the user owns, by name.
  let localAttributes: [String: Int]
  /// The positions of references to records. A record id means nothing to a feed, and after a
  /// deletion the record may be missing.
  let links: Set<Int>
  /// The types and default values, by position.
  let shapes: [Shape]
  let defaults: [Value]

  /// The attributes of the sync itself.
  static let own = FeedMapping.systemAttributes
  /// The maximum bytes of an id, for an entity that is created for a feed.
  static let idLengthMax = DocumentLimits.idBytesMax

  /// - Throws: `missingTarget` naming what the entity lacks.
  init(_ entity: EntityLayout) throws {
    let description = entity.description
    var missing = FeedTarget.own.filter { entity.positions[$0] == nil }
    missing += ["feedID", "feedRevision", "feedHash"].filter { name in
      description.attribute(named: name).map { $0.type.kind != .int64 } ?? false
    }.map { "the type int64 of \($0)" }
    let hasIndex = description.indexes.contains { index in
      let names = index.keys.compactMap { key in
        description.attributes.first { $0.id == key.attributeID }?.name
      }
      return index.isUnique && Set(names) == ["id", "feedID"]
    }
    guard missing.isEmpty, hasIndex, description.attribute(named: "id")?.type.kind == .string else {
      throw SyncError(
        .missingTarget, "the entity cannot take a feed",
        [
          ("entity", description.name),
          (
            "it lacks",
            (missing + (hasIndex ? [] : ["a unique index on id, feedID"]))
              .joined(separator: ", ")
          ),
        ], advice: "add them with a migration, as Migrations/0001_home_feed.yaml does")
    }
    self.entity = entity
    index = try entity.uniqueIndex(on: ["id", "feedID"])
    id = try entity.position(of: "id")
    feedID = try entity.position(of: "feedID")
    revision = try entity.position(of: "feedRevision")
    hash = try entity.position(of: "feedHash")
    updatedAt = entity.positions["updatedAt"]
    var feed: [String: Int] = [:]
    var local: [String: Int] = [:]
    var links: Set<Int> = []
    for (position, attribute) in description.attributes.enumerated()
    where !FeedTarget.own.contains(attribute.name) {
      if case .reference = attribute.type { links.insert(position) }
      if attribute.isHidden { links.insert(position) }
      switch attribute.owner {
      case .feed: feed[attribute.name] = position
      case .local: local[attribute.name] = position
      }
    }
    feedAttributes = feed
    localAttributes = local
    self.links = links
    shapes = description.attributes.map { Shape(kind: $0.type.kind, isOptional: $0.isOptional) }
    defaults = description.attributes.map(\.defaultValue)
  }

  /// Returns the entities of the schema that can take a feed, by name.
  static func all(in transaction: ReadTransaction) throws -> [String: FeedTarget] {
    var targets: [String: FeedTarget] = [:]
    for entity in transaction.schema.entities where !entity.isSystem {
      guard entity.attribute(named: "feedID") != nil else { continue }
      targets[entity.name] = try FeedTarget(try transaction.layout(entity.name))
    }
    return targets
  }
}
