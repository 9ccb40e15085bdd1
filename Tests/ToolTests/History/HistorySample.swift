import EntityModel
import EntityStore
import Foundation
import Migrations
import TestSupport

/// A store with five writes of known content.
enum HistorySample {
  static let migrations = MigrationSource(embedded: [
    (
      "0001_walks",
      Array(
        """
        line: walks
        summary: Dogs, and words that nobody keeps
        steps:
          - createEntity:
              name: Dog
              attributes:
                - { name: name, type: string, keepHistory: true }
                - { name: age, type: int64, default: 0 }
                - { name: weight, type: double, optional: true }
                - { name: price, type: decimal, optional: true }
                - { name: isGood, type: bool, optional: true }
                - { name: bornAt, type: date, optional: true }
                - { name: photo, type: data, optional: true }
                - { name: tags, type: strings, optional: true }
          - createEntity:
              name: Silent
              history: false
              attributes: [ { name: word, type: string } ]
          - createRelationship:
              { on: Dog, name: friends, to: Dog, many: true, inverse: { name: friends } }
        """.utf8)
    ),
    (
      "0002_bounds",
      Array(
        """
        line: walks
        summary: A small history
        steps:
          - retainHistory: { days: 1, megabytes: 1, consumerDays: 2, consumerMegabytes: 2 }
        """.utf8)
    ),
  ])

  static let longName = "Fido the \"first\", of a name that is\nlonger than a table shows"

  /// - Returns: The tokens after each write.
  static func fill(_ temporary: TemporaryStore) async throws -> [HistoryToken] {
    let (store, clock) = (temporary.store, temporary.clock)
    let (fido, rex) = try await store.write(author: "ui") { transaction in
      let fido = try transaction.insert("Dog", ["name": .string(longName)])
      let values: [String: Value] = [
        "name": "Rex", "age": .int64(7), "weight": .double(0.5),
        "price": .decimal(Decimal(99) / 10), "isGood": .bool(true),
        "bornAt": .date(Date(timeIntervalSinceReferenceDate: 0)),
        "photo": .data(Data([1, 2, 255])), "tags": .strings(["a", "b \"c\""]),
      ]
      return (fido, try transaction.insert("Dog", values))
    }
    clock.advance(by: 5)
    try await store.write { transaction in
      try transaction.update(fido) { try $0.set("age", to: .int64(3)) }
      try transaction.addRelated([rex], to: fido, "friends")
    }
    clock.advance(by: 0.25)
    try await store.write(author: "sync") { transaction in
      try transaction.update(fido) {
        try $0.set("name", to: "Fi")
        try $0.set("age", to: .int64(4))
      }
    }
    try await store.write(author: "sync, \"too\"") { _ = try $0.delete(rex) }
    try await store.write(author: "ui") { transaction in
      transaction.recordsHistory = false
      try transaction.update(fido) { try $0.set("age", to: .int64(5)) }
      try transaction.insert("Silent", ["word": "shh"])
    }
    return try store.history().map(\.token)
  }
}

/// Runs `body` with the sample store and the tokens after each of its writes.
func withHistorySample<R>(
  isolation: isolated (any Actor)? = #isolation,
  _ body: (TemporaryStore, [HistoryToken]) async throws -> R
) async throws -> R {
  try await withTemporaryStore(migrations: [HistorySample.migrations]) { temporary in
    try await body(temporary, try await HistorySample.fill(temporary))
  }
}
