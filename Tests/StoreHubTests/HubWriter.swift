import EntityModel
import EntityStore
import SystemSupport
import Testing

/// Writes records `NAME NUMBER` to the store of a machine, whatever fails, and notes what has come
/// of each.
final class Writer: Sendable {
  private struct State {
    var acknowledged: Set<String> = []
    /// Refused: they must not be in the store.
    var refused: Set<String> = []
    /// The log may have them.
    var unknown: Set<String> = []
    /// Others, which must not happen.
    var unexpected: [String] = []
    var isStopped = false
    var waiter: (count: Int, continuation: CheckedContinuation<Void, Never>)?
  }

  private let name: String
  private let store: Store
  private let state = Locked(State())

  init(name: String, store: Store) {
    self.name = name
    self.store = store
  }

  /// Writes until `stop` is called.
  func run() async {
    var number = 0
    while !state.withLock({ $0.isStopped }) {
      let record = "\(name) \(number)"
      number += 1
      do {
        try await insert(record, into: store)
        note { $0.acknowledged.insert(record) }
      } catch let error as StoreError {
        note { state in
          switch error.code {
          case .busy, .unreachable: state.refused.insert(record)
          case .unknownOutcome: state.unknown.insert(record)
          case .notHereYet: state.acknowledged.insert(record)
          default: state.unexpected.append("\(error)")
          }
        }
      } catch {
        note { $0.unexpected.append("\(error)") }
      }
    }
  }

  func stop() { state.withLock { $0.isStopped = true } }

  /// Waits until so many more records are acknowledged.
  func waitForMore(_ count: Int) async {
    await withCheckedContinuation { continuation in
      state.withLock { $0.waiter = ($0.acknowledged.count + count, continuation) }
    }
  }

  var summary: String {
    state.withLock {
      "\($0.acknowledged.count) acknowledged, \($0.refused.count) refused, "
        + "\($0.unknown.count) unknown"
    }
  }

  private func note(_ change: (inout State) -> Void) {
    let due = state.withLock { state -> CheckedContinuation<Void, Never>? in
      change(&state)
      guard let waiter = state.waiter, state.acknowledged.count >= waiter.count else { return nil }
      state.waiter = nil
      return waiter.continuation
    }
    due?.resume()
  }

  fileprivate func require(in stored: [String]) {
    let (own, state) = (Set(stored.filter { $0.hasPrefix(name + " ") }), state.withLock { $0 })
    #expect(state.acknowledged.subtracting(own) == [], "lost")
    #expect(state.refused.intersection(own) == [], "stored, although refused")
    #expect(own.subtracting(state.acknowledged).subtracting(state.unknown) == [])
    #expect(state.unexpected == [])
  }
}

/// Requires that what was acknowledged is in the store once, and what was refused is not.
func requireOnce(_ writers: [Writer], in store: Store) throws {
  let stored = try names(of: store)
  #expect(Set(stored).count == stored.count, "a write is there twice")
  for writer in writers { writer.require(in: stored) }
}
