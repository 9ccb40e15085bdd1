import LMDB

/// What an observer keeps between two looks at the store.
protocol LiveObserver<Update>: Sendable {
  associatedtype Update: Sendable

  /// What has changed since the call before; `nil` if nothing that matters has.
  func advance(in transaction: ReadTransaction) throws -> Update?

  /// Whether nothing can come any more.
  var isEnded: Bool { get }
}

extension LiveObserver {
  var isEnded: Bool { false }
}

/// Looks at the store now and after each commit until there is something to hand on.
///
/// It pulls: whoever does not ask costs nothing, and who asks late gets all that has happened since
/// as one step. Nothing is queued.
final class LiveSource<Update: Sendable>: Sendable {
  private struct State {
    var observation: CommitObservation?
    /// The commit that was looked at last.
    var commit = 0
    var isEnded = false
  }

  private let store: Store
  private let observer: any LiveObserver<Update>
  private let options: AsynchronousFetchOptions
  private let state = Guarded(State())

  init(
    _ store: Store, _ observer: any LiveObserver<Update>, _ options: AsynchronousFetchOptions
  ) {
    self.store = store
    self.observer = observer
    self.options = options
  }

  /// - Returns: `nil` when the store has been closed, when nothing can come any more, and after an
  ///   error.
  /// - Throws: As a fetch; `CancellationError`.
  func next() async throws -> Update? {
    if state.withLock({ $0.isEnded }) { return nil }
    do {
      // Before the first look, so that no commit falls between the look and the wait.
      let observation = try observation()
      while !observer.isEnded {
        if let update = try await look() { return update }
        _ = try await observation.next(after: state.withLock { $0.commit })
      }
    } catch let error as StoreError where error.code == .closed {
      // A closed store is the end of what can be observed.
    } catch {
      end()
      throw error
    }
    end()
    return nil
  }

  private func look() async throws -> Update? {
    let observer = observer
    let (commit, update) = try await store.readAsynchronously(options: options) { transaction in
      (transaction.transaction.id, try observer.advance(in: transaction))
    }
    state.withLock { $0.commit = commit }
    return update
  }

  private func observation() throws -> CommitObservation {
    try state.withLock { state in
      if let observation = state.observation { return observation }
      let observation = try store.commits.observe()
      state.observation = observation
      return observation
    }
  }

  private func end() {
    state.withLock { state in
      state.isEnded = true
      state.observation = nil
    }
  }
}
