import EntityStore
import LMDB
import SystemSupport

/// Something that follows from the store, as it is and as it becomes.
///
/// The first element is what there is now; each further one comes after a commit that changed it,
/// of this process or of another one. Commits that come faster than the elements are asked for are
/// one step together; nothing is queued, and whoever never asks costs nothing.
///
/// Each iteration is an observer of its own. It ends with `nil` when the store is closed and when
/// nothing can come any more, with `CancellationError` when its task is cancelled, and with an
/// error when the store cannot be read.
public struct LiveSequence<Element: Sendable>: AsyncSequence, Sendable {
  private let store: Store
  private let options: AsynchronousFetchOptions
  private let makeObserver: @Sendable () -> any LiveObserver<Element>

  init(
    _ store: Store, _ options: AsynchronousFetchOptions,
    _ makeObserver: @escaping @Sendable () -> any LiveObserver<Element>
  ) {
    self.store = store
    self.options = options
    self.makeObserver = makeObserver
  }

  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(source: LiveSource(store, makeObserver(), options))
  }

  public struct AsyncIterator: AsyncIteratorProtocol {
    fileprivate let source: LiveSource<Element>

    /// - Throws: As reading the store; `CancellationError`. Then it has ended.
    public mutating func next() async throws -> Element? { try await source.next() }
  }
}

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
  private let state = Locked(State())

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
