import Dispatch
import EntityModel
import Foundation
import LMDB
import Migrations
import SystemSupport
import TestSupport
import Testing

@testable import EntityStore

@Suite struct CommitBudgetTests {
  struct Refused: Error {}

  @Test func chunksShareACommitWhileNobodyWaits() async throws {
    try await withStore { store, _ in
      let before = try store.environment.lastCommit
      let commits = Locked<[Int64]>([])
      let end = try await Self.write.run(on: store, from: 0) { progress in
        commits.withLock { $0.append(progress.rows) }
      } step: {
        try Self.insert($0, &$1, &$2)
      }
      #expect(commits.withLock { $0 } == [100])
      #expect(end.rows == 100 && end.chunks == 10)
      #expect(try store.environment.lastCommit == before + 1)
    }
  }

  @Test func aWriteThatWaitsSharesTheCommitOfLongWork() async throws {
    try await withStore { store, _ in
      let before = try store.environment.lastCommit
      let commits = Locked<[Int64]>([])
      let waiting = Locked<[Bool]>([])
      _ = try await Self.write.run(on: store, from: 0) { progress in
        commits.withLock { $0.append(progress.rows) }
      } step: { transaction, row, chunk in
        if row == 25 {
          for name in ["first", "refused", "last"] {
            store.write { transaction in
              try transaction.insert("Sample", ["name": .string(name)])
              if name == "refused" { throw Refused() }
            } completion: { result in
              waiting.withLock { $0.append((try? result.get()) != nil) }
            }
          }
        }
        return try Self.insert(transaction, &row, &chunk)
      }
      #expect(commits.withLock { $0 } == [30, 100])
      #expect(waiting.withLock { $0 } == [true, false, true])
      #expect(try store.environment.lastCommit == before + 2)
      #expect(try store.read { try $0.count(of: "Sample") } == 102)
      // A refused write has left nothing in the commit that it shared.
      #expect(try store.read { try $0.get("Sample", by: ["name": "refused"]) } == nil)
    }
  }

  @Test func longWorkThatSharesATransactionKeepsTheOthersWaitingForOneChunk() async throws {
    try await withStore { store, _ in
      let (opens, commits) = (DispatchSemaphore(value: 0), Locked<[Int64]>([]))
      let hasBegun = Locked(false)
      store.write { _ in
        hasBegun.withLock { $0 = true }
        opens.wait()
      } completion: { _ in
      }
      // Otherwise it could share its transaction with one of the others.
      while !hasBegun.withLock({ $0 }) { await Task.yield() }
      async let end = Self.write.run(on: store, from: 0) { progress in
        commits.withLock { $0.append(progress.rows) }
      } step: {
        try Self.insert($0, &$1, &$2)
      }
      store.write {
        _ = try $0.insert("Sample", ["name": "other"])
      } completion: { _ in
      }
      // All three writes are in the queue: the last two will share a transaction.
      while store.environment.writesWaiting < 3 { await Task.yield() }
      opens.signal()
      _ = try await end
      #expect(commits.withLock { $0 } == [10, 100])
    }
  }

  @Test func aProcessThatWaitsGetsItsTurnAfterTheChunk() async throws {
    try await withStore { store, folder in
      let commits = Locked<[Int64]>([])
      // The turn of another process, through an open file of its own.
      let turn = try FileLock(folder + "/writer.turn")
      _ = try await Self.write.run(on: store, from: 0) { progress in
        commits.withLock { $0.append(progress.rows) }
        turn.release()
      } step: { transaction, row, chunk in
        if row == 45 {
          let isTaken = try turn.take(until: ContinuousClock.now + .seconds(60)) { false }
          #expect(isTaken)
        }
        return try Self.insert(transaction, &row, &chunk)
      }
      #expect(commits.withLock { $0 } == [50, 100])
    }
  }

  @Test func aChunkThatFailsRollsBackToTheLastCommit() async throws {
    try await withStore { store, _ in
      let commits = Locked<[Int64]>([])
      await #expect(throws: Refused.self) {
        _ = try await Self.write.run(on: store, from: 0) { progress in
          commits.withLock { $0.append(progress.rows) }
        } step: { transaction, row, chunk in
          if row == 15 {
            store.write { _ in
            } completion: { _ in
            }
          }
          if row == 55 { throw Refused() }
          return try Self.insert(transaction, &row, &chunk)
        }
      }
      #expect(commits.withLock { $0 } == [20])
      #expect(try store.read { try $0.count(of: "Sample") } == 20)
      // The same work resumes at the commit.
      let end = try await Self.write.run(on: store, from: 0) { try Self.insert($0, &$1, &$2) }
      #expect(end.rows == 100)
      #expect(try store.read { try $0.count(of: "Sample") } == 100)
    }
  }

  @Test("A commit takes no chunk with which it would have too many pages", arguments: [100, 300])
  func manyPages(rowsPerChunk: Int) async throws {
    try await withStore(mapSize: 1 << 30) { store, _ in
      var write = Self.write
      write.rowsMax = rowsPerChunk
      let commits = Locked<[Int64]>([])
      // 2,000 rows of 20 KB are 10,000 pages.
      _ = try await write.run(on: store, from: 0) { progress in
        commits.withLock { $0.append(progress.rows) }
      } step: { transaction, row, chunk in
        let text = String(repeating: "x", count: 20_000)
        try transaction.insert("Sample", ["name": .string("n\(row)"), "note": .string(text)])
        row += 1
        chunk.add(rows: 1)
        return row < 2_000
      }
      let sizes = commits.withLock { rows in zip(rows, [0] + rows).map { $0 - $1 } }
      #expect(sizes.count >= 3)
      #expect(sizes.allSatisfy { $0 <= 1_000 })
    }
  }

  /// Compares the estimate with the pages of the file that a commit has written.
  @Test(arguments: [1, 10, 1_000, 20_000])
  func theEstimateOfDirtyPagesIsNotTooLow(rows: Int) async throws {
    let seed = testSeed(7)
    try await withStore { store, _ in
      try await store.write { transaction in
        for row in 0..<20_000 {
          try transaction.insert(
            "Sample",
            ["name": .string("n\(row * 7_919 % 20_011)"), "rank": .int64(Int64(row % 97))])
        }
      }
      var random = SeededRandom(seed: seed)
      let ids = (0..<rows).map { _ in Int64.random(in: 1...20_000, using: &random) }
      let (estimate, before) = try await store.write { transaction in
        let before = try transaction.dirtyPages()
        for id in ids {
          try transaction.update(ObjectID(entity: "Sample", number: id)) { record in
            try record.set("rank", to: .int64(id % 89))
            try record.set("score", to: .double(Double(id % 1_009)))
          }
        }
        return (try transaction.dirtyPages(), before)
      }
      #expect(before == 0)
      let pages = try store.read { try Self.pages(of: $0) }
      // All leaf pages of the entity are the most that a commit can change, but for new ones.
      #expect(estimate >= min(rows, pages / 4))
      #expect(estimate <= 4 * rows + 50 + pages)
    }
  }

  // MARK: Support

  private static var write: ChunkedWrite<Int> {
    var write = ChunkedWrite<Int>(name: "long work")
    write.rowsMax = 10
    write.duration = .seconds(600)
    return write
  }

  @Sendable private static func insert(
    _ transaction: WriteTransaction, _ row: inout Int, _ chunk: inout ChunkBudget
  ) throws -> Bool {
    try transaction.insert("Sample", ["name": .string("n\(row)")])
    row += 1
    chunk.add(rows: 1)
    return row < 100
  }

  private static func pages(of transaction: ReadTransaction) throws -> Int {
    let entity = try transaction.layout("Sample")
    let trees = [entity.tree] + entity.indexes.map(\.tree)
    return try trees.reduce(0) { try $0 + transaction.transaction.statistics($1).leafPages }
  }

  /// Lends a store whose commits do not end by the clock, and checks it afterwards.
  private func withStore(
    mapSize: Int = 256 << 20, _ body: (Store, _ folder: String) async throws -> Void
  ) async throws {
    try await withTemporaryFolder { folder in
      var options = Store.Options()
      options.mapSize = mapSize
      options.flushesCommits = false
      options.commitDuration = .seconds(600)
      let store = try Store.open(
        at: folder.path("store"), migrations: [.model], migrate: .ifEmpty, options: options)
      try await body(store, folder.path("store"))
      try requireClean(store)
      try requireWholePages(store)
    }
  }
}
