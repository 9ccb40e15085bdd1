import DurableJobs
import EntityModel
import EntityStore
import FeedSync
import Foundation
import Migrations
import StoreFigures
import SystemSupport
import TestSupport

/// A store with figures and a recorder whose clocks a test controls.
struct TemporaryFigures {
  let store: Store
  let folder: String
  let clock: ManualClock
  let recorder: FigureRecorder
  let fetchClock: FetchClock
  var random: SeededRandom

  func figures<R>(_ body: (StoreFigures) throws -> R) throws -> R {
    try store.read { try body(StoreFigures($0)) }
  }

  /// All slots of a resolution.
  func slots(_ resolution: FigureResolution) throws -> [FigureSlot] {
    try figures { try $0.slots(resolution, from: .distantPast, to: .distantFuture) }
  }

  func addBooks(_ count: Int) async throws {
    try await store.write { transaction in
      for number in 0..<count {
        try transaction.insert(
          "Book", ["name": .string("book \(number)"), "rank": .int64(Int64(number % 10))])
      }
    }
  }

  /// Opens the store again, with another recorder.
  func other() throws -> (store: Store, recorder: FigureRecorder) {
    let recorder = FigureRecorder(now: { [clock] in clock.now })
    return (try openFigures(folder, clock, recorder), recorder)
  }
}

/// A clock that moves by a step at each reading, so that each fetch takes that long.
final class FetchClock: Sendable {
  private let state = Locked((now: Int64(0), step: Int64(1)))

  func setStep(_ step: Duration) {
    state.withLock { $0.step = Int64(step / .nanoseconds(1)) }
  }

  func read() -> Int64 {
    state.withLock { state in
      state.now += state.step
      return state.now
    }
  }
}

/// Runs `body` with a store that has books, and expects that it is undamaged at the end.
func withFigures(
  seed: UInt64 = 1, migrations: [MigrationSource] = [.books, .figures],
  isolation: isolated (any Actor)? = #isolation,
  _ body: (inout TemporaryFigures) async throws -> Void
) async throws {
  try await withTemporaryStore(seed: seed, migrations: migrations) { temporary in
    let (clock, fetchClock) = (temporary.clock, FetchClock())
    let recorder = FigureRecorder(now: { clock.now }, fetchClock: { fetchClock.read() })
    let folder = temporary.folder.path("store")
    var figures = TemporaryFigures(
      store: try openFigures(folder, clock, recorder, migrations: migrations), folder: folder,
      clock: clock, recorder: recorder, fetchClock: fetchClock, random: temporary.random)
    try await body(&figures)
    figures.store.close()
  }
}

func openFigures(
  _ folder: String, _ clock: ManualClock, _ recorder: FigureRecorder,
  migrations: [MigrationSource] = [.books, .figures], isReadOnly: Bool = false
) throws -> Store {
  var options = Store.Options()
  options.mapSize = 1 << 30
  options.flushesCommits = false
  options.now = { clock.now }
  options.fetchObserver = recorder.fetchObserver
  options.isReadOnly = isReadOnly
  return try Store.open(at: folder, migrations: migrations, options: options)
}

extension MigrationSource {
  static let books = MigrationSource(embedded: [("0001_books", Array(booksFile.utf8))])

  private static let booksFile = """
    line: books
    summary: Books with more indexes than they need
    steps:
      - createEntity:
          name: Book
          attributes:
            - { name: name, type: string }
            - { name: rank, type: int64, default: 0 }
            - { name: year, type: int64, optional: true }
            - { name: tags, type: strings, optional: true }
      - createIndex: { on: Book, name: byName, keys: [name], unique: true }
      - createIndex: { on: Book, name: byNameAgain, keys: [name] }
      - createIndex: { on: Book, name: byRank, keys: [rank] }
      - createIndex: { on: Book, name: byRankAndYear, keys: [rank, year] }
      - createIndex: { on: Book, name: byRankDown, keys: [rank desc] }
      - createIndex: { on: Book, name: byYear, keys: [year], sparse: true }
      - createIndex: { on: Book, name: byYearAndRank, keys: [year, rank], sparse: true }
      - createIndex: { on: Book, name: byYearDown, keys: [year desc] }
      - createIndex: { on: Book, name: byYearDownAndTag, keys: [year desc, tags] }
      - createIndex: { on: Book, name: byNameFolded, keys: [name caseInsensitive] }
    """
}

extension SyncReport {
  static func made(_ outcome: Outcome, new: Int = 0, changed: Int = 0) -> SyncReport {
    var report = SyncReport(feed: "https://example.org/feed")
    report.outcome = outcome
    report.new = new
    report.changed = changed
    return report
  }

  static func failed(_ code: String?, status: Int? = nil) -> SyncReport {
    var report = made(.failed)
    report.errorCode = code
    report.errorStatus = status
    return report
  }
}

extension FigureRecorder {
  func record(_ report: SyncReport, _ feed: Int64 = 1, at time: Date, seconds: Double = 1) {
    record(run: report, feed: feed, startedAt: time, seconds: seconds)
  }
}
