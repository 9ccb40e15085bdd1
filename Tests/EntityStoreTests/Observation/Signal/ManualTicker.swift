import Dispatch
import EntityModel
import Glibc
import LMDB
import SystemSupport
import TestSupport

@testable import EntityStore
@testable import Migrations

/// A ticker that stands still until a test moves it.
final class ManualTicker: Sendable {
  private struct State {
    var started = 0
    var ticks: [Int: @Sendable () -> Void] = [:]
  }

  private let state = Locked(State())

  var ticker: PollTimer {
    PollTimer { [state] _, tick in
      let number = state.withLock { state in
        state.started += 1
        state.ticks[state.started] = tick
        return state.started
      }
      return { state.withLock { $0.ticks[number] = nil } }
    }
  }

  /// How often it has been started.
  var started: Int { state.withLock { $0.started } }
  /// How many are started and not stopped.
  var running: Int { state.withLock { $0.ticks.count } }

  func tick() {
    for tick in state.withLock({ Array($0.ticks.values) }) { tick() }
  }
}

/// Runs `body` with a new store whose observers hear nothing but bells, unless `ticker` is moved.
///
/// - Throws: what `body` throws; `StoreNotClean`.
func withObservedStore(
  in subfolder: String = "store", isolation: isolated (any Actor)? = #isolation,
  _ body: (Store, ManualTicker) async throws -> Void
) async throws {
  try await withTemporaryFolder { folder in
    let ticker = ManualTicker()
    var options = Store.Options()
    options.mapSize = 1 << 30
    options.flushesCommits = false
    options.pollTimer = ticker.ticker
    let store = try Store.open(
      at: folder.path(subfolder), migrations: [.model], migrate: .ifEmpty, options: options)
    try await body(store, ticker)
    try requireClean(store)
  }
}

extension Store {
  /// The commit that a snapshot sees now.
  func newestCommit() throws -> Int { try read { $0.transaction.id } }

  func commitOnce() async throws {
    try await write { _ = try $0.insert("Wide", ["a": "x"]) }
  }

  /// Returns when so many wait for a commit.
  func waiters(_ count: Int) async throws {
    while commits.signal.waitersCount != count {
      try Task.checkCancellation()
      await Task.yield()
    }
  }

  /// The sockets of its observers; `nil` if there is no folder of them.
  func observerSockets() -> [String]? {
    guard let listing = opendir(folder + "/observers") else { return nil }
    defer { closedir(listing) }
    var names: [String] = []
    while let entry = readdir(listing) {
      let offset = MemoryLayout<dirent>.offset(of: \.d_name) ?? 0
      // SAFETY: the name is within the entry and ends with a zero byte.
      let name = String(
        cString: (UnsafeRawPointer(entry) + offset).assumingMemoryBound(to: CChar.self))
      if !name.hasPrefix(".") { names.append(name) }
    }
    return names
  }
}
