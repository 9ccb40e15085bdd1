import EntityModel
import EntityStore
public import Foundation
import Migrations

/// An index that can be dropped without making a fetch slower, with the migration that drops it.
public struct IndexAdvice: Codable, Equatable, Sendable {
  public enum Reason: String, Codable, Sendable {
    /// Another index serves every fetch that this one serves.
    case duplicate
    /// No fetch of a program that records figures has used it for a week or longer.
    case unused
  }

  public let entity: String
  public let index: String
  public let reason: Reason
  /// The name of the other index; `nil` for an unused one.
  public let duplicateOf: String?
  /// The beginning of the recording of uses; `nil` for a duplicate.
  public let unusedSince: Date?
  /// The text of a migration file that drops the index, and creates it again if it is undone.
  public let migration: String
}

extension StoreFigures {
  /// Returns the indexes that can be dropped, by entity and name. Unique indexes, which are rules,
  /// those that serve relationships, and those of the system are never unused.
  ///
  /// - Parameter line: The migration line of the files.
  public func indexAdvice(now: Date, line: String = "local") throws -> [IndexAdvice] {
    let schema = snapshot.schema
    let ofRelationships = schema.indexesOfRelationships
    let uses = try indexUsesByNumber()
    let unusedSince = now - Limits.unusedAfter
    let requires = requirements(besides: line)
    var advice: [IndexAdvice] = []
    for entity in schema.entities.filter({ !$0.isSystem }).sorted(by: { $0.name < $1.name }) {
      /// Returns true if the index serves the fetches of the other one.
      func replaces(_ index: IndexDescription, _ other: IndexDescription) -> Bool {
        other.isRedundant(beside: index, ofRelationships.contains(index.id), in: entity)
      }
      for index in entity.indexes.sorted(by: { $0.name < $1.name })
      where !ofRelationships.contains(index.id) && !index.name.hasPrefix("_") {
        let other = entity.indexes.first { replaces($0, index) }
        // An index is used if it is to replace one that is used.
        let isUnused = entity.indexes.allSatisfy { served in
          guard served.id == index.id || replaces(index, served) else { return true }
          return uses[served.id].map { $0.uses == 0 && $0.since <= unusedSince } ?? false
        }
        guard other != nil || isUnused && !index.isUnique else { continue }
        advice.append(
          IndexAdvice(
            entity: entity.name, index: index.name, reason: other == nil ? .unused : .duplicate,
            duplicateOf: other?.name, unusedSince: other == nil ? uses[index.id]?.since : nil,
            migration: MigrationText.yaml(
              of: [.dropIndex(entity: entity.name, name: index.name)],
              down: [.createIndex(entity: entity.name, entity.definition(of: index))],
              line: line, summary: "Drop the index \(entity.name).\(index.name)",
              requires: requires)))
      }
    }
    return advice
  }

  /// The last applied versions of the other lines, as `mooring migrate new` writes them.
  private func requirements(besides line: String) -> [Migration.Requirement] {
    let others = snapshot.catalog.history.filter {
      $0.line != line && $0.line.split(separator: ".").first != "system"
    }
    return Dictionary(grouping: others, by: \.line).sorted { $0.key < $1.key }
      .map { Migration.Requirement(line: $0.key, version: $0.value.count) }
  }
}

extension IndexDescription {
  /// Returns true if the other index serves every fetch that this one serves, and has its rule. Of
  /// two equal indexes, the later one is redundant.
  ///
  /// - Parameter stays: True if the other index is needed anyway.
  fileprivate func isRedundant(
    beside other: IndexDescription, _ stays: Bool, in entity: EntityDescription
  ) -> Bool {
    guard other.id != id, isSparse == other.isSparse,
      other.keys.starts(with: keys), !isUnique || other.isUnique
    else { return false }
    if keys.count == other.keys.count {
      return isUnique == other.isUnique ? stays || other.id < id : true
    }
    // Records without a value, and those with an empty list, have no entries in the longer one.
    let more = other.keys.dropFirst(keys.count)
    let hasList = entity.attributes.contains { attribute in
      attribute.type.kind == .strings && more.contains { $0.attributeID == attribute.id }
    }
    return !isUnique && !isSparse && !hasList
  }
}

extension Schema {
  /// The numbers of the indexes without which a relationship could not be read.
  fileprivate var indexesOfRelationships: Set<Int> {
    Set(
      entities.flatMap(\.relationships).compactMap { relationship in
        switch relationship.storage {
        case .reference(_, let index), .key(_, let index), .link(_, _, _, _, let index): index
        case .inverse: nil
        }
      })
  }
}
