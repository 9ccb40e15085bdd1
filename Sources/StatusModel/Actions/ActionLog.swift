import EntityModel
public import EntityStore
import Foundation
public import Migrations

/// The actions that were taken on the pages of a store, with author and time.
public enum ActionLog {
  private static let entity = "_Action"
  /// The actions that are stored.
  static let actionsMax = 1_000
  private static let outcomeLengthMax = 500

  /// Adds an action, and removes the oldest beyond the bound.
  ///
  /// - Throws: `StoreError` with `unknownEntity` if the store lacks `MigrationSource.actions`.
  public static func add(
    action: String, target: String, outcome: String, by author: String, to store: Store
  ) async throws {
    try await store.write(author: "serve") { transaction in
      try transaction.insert(
        entity,
        [
          "at": .date(transaction.now), "author": .string(author), "action": .string(action),
          "target": .string(String(target.prefix(200))),
          "outcome": .string(String(outcome.prefix(outcomeLengthMax))),
        ])
      let excess = try transaction.count(of: entity) - actionsMax
      guard excess > 0 else { return }
      var oldest = FetchRequest(entityName: entity)
      oldest.fetchLimit = excess
      for id in try transaction.fetchIdentifiers(oldest) { try transaction.delete(id) }
    }
  }

  /// Returns the last actions, the newest first; none for a store that lacks their migration.
  static func last(_ count: Int, in transaction: ReadTransaction) throws -> [ActionStatus] {
    guard transaction.schema.entity(named: entity) != nil else { return [] }
    let actions = try transaction.layout(entity)
    var found: [ActionStatus] = []
    var next = try transaction.lastNumber(of: actions)
    while found.count < count, let number = next {
      if let record = try transaction.get(ObjectID(entity: entity, number: number)) {
        found.append(try ActionStatus(record))
      }
      next = try transaction.number(before: number, of: actions)
    }
    return found
  }
}

extension ActionStatus {
  fileprivate init(_ record: Record) throws {
    func text(_ name: String) throws -> String {
      if case .string(let text) = try record[name] { text } else { "" }
    }
    if case .date(let date) = try record["at"] { at = date } else { at = .distantPast }
    author = try text("author")
    action = try text("action")
    target = try text("target")
    outcome = try text("outcome")
  }
}

extension MigrationSource {
  /// The log of actions. A store on whose pages actions are allowed is opened with it.
  public static let actions = MigrationSource(embedded: [
    ("0001_actions", PackageResources._001_actions_yaml)
  ])
}
