import EntityStore
import SystemSupport

/// A sequence of the successive values of something that is computed from a store.
///
/// The first element is the current value; each further one follows a commit, of this process or of
/// another one, that changed it. Commits that come faster than the elements are requested are
/// combined into one step. Nothing is queued, and an iterator that is not asked for elements costs
/// nothing.
///
/// Each iteration is an observer of its own. It ends with `nil` when the store is closed and when
/// no further element can come, with `CancellationError` when its task is cancelled, and with an
/// error when the store cannot be read.
public struct LiveSequence<Element: Sendable>: AsyncSequence, Sendable {
  let store: Store
  let options: AsynchronousFetchOptions
  let makeObserver: @Sendable () -> any LiveObserver<Element>

  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(source: LiveSource(store, makeObserver(), options))
  }

  public struct AsyncIterator: AsyncIteratorProtocol {
    fileprivate let source: LiveSource<Element>

    /// Waits for the next element.
    ///
    /// - Throws: The errors of reading the store; `CancellationError`. The iteration has then
    ///   ended.
    public mutating func next() async throws -> Element? { try await source.next() }
  }
}

/// The state of an observer between two readings of the store.
protocol LiveObserver<Update>: Sendable {
  associatedtype Update: Sendable

  /// Returns the change since the previous call; `nil` if there is no relevant one.
  func advance(in transaction: ReadTransaction) throws -> Update?

  /// True if no further element can come.
  var isEnded: Bool { get }
}

extension LiveObserver {
  var isEnded: Bool { false }
}

/// Reads the store at the first request and after each commit until there is an element to return.
///
/// It works on request only: an observer that requests late gets all changes since its last element
/// as one step. Nothing is queued.
final class LiveSource<Update: Sendable>: Sendable {
  private struct State {
    var observation: CommitObservation?
    /// The number of the last commit that was read.
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

  /// Waits for the next element.
  ///
  /// - Returns: `nil` when the store has been closed, when no further element can come, and after
  ///   an error.
  /// - Throws: The errors of a fetch; `CancellationError`.
  func next() async throws -> Update? {
    if state.withLock({ $0.isEnded }) { return nil }
    do {
      // Created before the first reading, so that no commit is missed between the reading and the
      // wait.
      let observation = try observation()
      while !observer.isEnded {
        if let update = try await look() { return update }
        _ = try await observation.next(after: state.withLock { $0.commit })
      }
    } catch let error as StoreError where error.code == .closed {
      // A closed store ends the observation.
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
      (transaction.commitNumber, try observer.advance(in: transaction))
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
