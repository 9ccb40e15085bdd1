public import EntityStore
import Foundation
import LMDB
import Maintenance
public import Migrations

/// A store in a new folder, with a clock and a random generator that a test controls.
public struct TemporaryStore: Sendable {
  public let store: Store
  public let folder: TemporaryFolder
  public let clock: ManualClock
  public let random: SeededRandom
}

/// The error of a store that is damaged at the end of a test.
public struct StoreNotClean: Error, CustomStringConvertible {
  public let problems: [String]

  public init(problems: [String]) { self.problems = problems }

  public var description: String {
    "the store is not clean: " + problems.prefix(10).joined(separator: "; ")
  }
}

/// The seed of a test: `MOORING_SEED`, by which a failure is replayed, or the test's own.
public func testSeed(_ usual: UInt64) -> UInt64 {
  ProcessInfo.processInfo.environment["MOORING_SEED"].flatMap { UInt64($0) } ?? usual
}

/// True if the long versions of the tests are requested (`MOORING_THOROUGH=1`).
public var isThorough: Bool { ProcessInfo.processInfo.environment["MOORING_THOROUGH"] == "1" }

/// Runs `body` with a new store, and removes it at the end.
///
/// Commits are not flushed: a test kills processes, never the machine.
///
/// - Throws: what `body` throws, after the seed was printed; `StoreNotClean` if the store does not
///   pass its integrity check at the end, or its file has a page that is damaged or lost.
public func withTemporaryStore<R>(
  seed: UInt64 = 1, migrations: [MigrationSource] = [.model],
  isolation: isolated (any Actor)? = #isolation,
  _ body: (TemporaryStore) async throws -> R
) async throws -> R {
  let seed = testSeed(seed)
  do {
    return try await withTemporaryFolder { folder in
      let clock = ManualClock()
      let store = try openStore(at: folder.path("store"), migrations: migrations, clock: clock)
      let result = try await body(
        TemporaryStore(
          store: store, folder: folder, clock: clock, random: SeededRandom(seed: seed)))
      try requireClean(store)
      try requireWholePages(store)
      return result
    }
  } catch {
    print("MOORING_SEED=\(seed) repeats this failure")
    throw error
  }
}

/// Opens a store for a test; creates it if it is missing.
///
/// - Parameters:
///   - commitDuration: As in the store's options. By default each chunk of long work is a commit,
///     so that tests of a few rows have many.
///   - log: The commit log of a store that several machines share.
public func openStore(
  at folder: String, migrations: [MigrationSource] = [.model], clock: ManualClock = ManualClock(),
  mapSize: Int = 1 << 30, migrate: Store.MigrationPolicy = .ifEmpty,
  commitDuration: Duration = .zero, log: MemoryCommitLog? = nil
) throws -> Store {
  var options = Store.Options()
  options.commitDuration = commitDuration
  options.mapSize = mapSize
  options.flushesCommits = false
  options.now = { clock.now }
  options.commitLog = try log ?? Shadow.log(ofStoreIn: folder)
  return try Store.open(at: folder, migrations: migrations, migrate: migrate, options: options)
}

/// - Throws: `StoreNotClean`.
public func requireClean(_ store: Store) throws {
  let report = try store.checkIntegrity()
  guard report.isClean else { throw StoreNotClean(problems: report.problems.map(\.description)) }
}

/// Checks the pages of the file. No process may write during the check.
///
/// - Throws: `StoreNotClean`.
public func requireWholePages(_ store: Store) throws {
  let report = try PageFile.verify(folder: store.folder)
  guard report.problemsTotal == 0 else {
    throw StoreNotClean(problems: report.problems.map(\.description))
  }
}

/// Checks the pages, the catalog, and the records with their indexes of a store that is not open.
///
/// - Throws: `StoreNotClean`.
public func requireUndamaged(_ folder: String) throws {
  let report = try Store.check(at: folder)
  guard report.isClean else {
    throw StoreNotClean(
      problems: report.problems + (report.integrity?.problems.map(\.description) ?? []))
  }
}
