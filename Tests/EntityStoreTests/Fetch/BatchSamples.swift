import Dispatch
import EntityModel
import LMDB
import TestSupport
import Testing

@testable import EntityStore

/// The entity that the tests of batches and of asynchronous fetches share.
struct WideRow: Entity, Equatable {
  static var entityName: String { "Wide" }
  var a: String
  var b: String?

  static let attributes: [EntityAttribute<WideRow>] = [.init("a", \.a), .init("b", \.b)]

  init(a: String) { self.a = a }

  init(from record: inout RecordReader) throws {
    a = try record["a"]
    b = try record["b"]
  }
}

extension Store {
  /// Inserts records of `Wide` that are numbered in `a`.
  func fillWide(_ count: Int) async throws -> [ObjectID] {
    try await write { transaction in
      try (0..<count).map { try transaction.insert(WideRow(a: BatchSamples.name($0))) }
    }
  }

  /// Makes a record unreadable, or repairs it.
  ///
  /// - Returns: The former bytes.
  @discardableResult
  func replaceBytes(of id: ObjectID, with bytes: [UInt8]) throws -> [UInt8] {
    let entity = try catalog().entity(id.entity)
    return try environment.writerQueue.sync {
      try environment.write { transaction in
        try RecordKey.with(id.number) { key in
          let old = try transaction.get(entity.tree, key).map(Array.init) ?? []
          try bytes.withUnsafeBytes { try transaction.put(entity.tree, key: key, value: $0) }
          return old
        }
      }
    }
  }

  /// Returns true if a snapshot pins pages. Each commit then needs new pages.
  func pinsPages(changing id: ObjectID) async throws -> Bool {
    func change(times: Int) async throws {
      for number in 0..<times {
        try await write { try $0.update(WideRow.self, id) { $0.b = "\(number)" } }
      }
    }
    try await change(times: 4)
    let before = try statistics().pagesUsed
    try await change(times: 40)
    return try statistics().pagesUsed - before >= 40
  }
}

enum BatchSamples {
  static func name(_ number: Int) -> String {
    String(repeating: "0", count: 5 - String(number).count) + String(number)
  }

  /// A history of some hundred random changes.
  static func history(in temporary: TemporaryStore) async throws -> History {
    let entity = try #require(try temporary.store.schema.entity(named: "Sample"))
    return try await temporary.store.write { transaction in
      var history = History(entity: entity, random: temporary.random)
      for _ in 0..<150 { try history.step(in: transaction) }
      return history
    }
  }
}

/// Runs a blocking closure on a separate thread.
func onThread<R: Sendable>(_ body: @escaping @Sendable () throws -> R) async throws -> R {
  try await withCheckedThrowingContinuation { continuation in
    DispatchQueue(label: "test").async { continuation.resume(with: Result(catching: body)) }
  }
}
