import EntityStore
import SystemSupport

/// An idle runner's offer to claim jobs within the commits of its own process.
///
/// A commit that changes jobs then also claims what it has enqueued: the job is durable and claimed
/// with one flush of the disk, and begins as soon as its enqueue returns. After all other commits,
/// of this process and of others, the runner wakes and claims by itself.
///
/// The runner opens the offer when it rests and withdraws it when it wakes. Each offer is taken
/// once.
final class ClaimOffer: CommitHook {
  enum Withdrawal {
    /// No commit has taken the offer.
    case withdrawn
    /// A commit is claiming under it. The runner is woken when that commit has ended.
    case taken
    /// The jobs that a commit has claimed; none if it has failed.
    case claimed([JobRecord])
  }

  private enum State {
    case closed
    case open(ClaimTerms)
    case taken(ClaimTerms)
    /// Claimed in a transaction that is not committed yet.
    case written([JobRecord])
    case published([JobRecord])
  }

  private let state = Locked(State.closed)
  private let wake: @Sendable () -> Void

  /// - Parameter wake: Called after a commit that has taken the offer, also if it has failed.
  init(_ wake: @escaping @Sendable () -> Void) { self.wake = wake }

  // MARK: The runner

  /// Opens the offer, unless jobs are claimed under the last one that the runner has not taken
  /// over.
  func open(_ terms: ClaimTerms) {
    state.withLock { state in
      switch state {
      case .closed, .open: state = .open(terms)
      case .taken, .written, .published: break
      }
    }
  }

  func withdraw() -> Withdrawal {
    state.withLock { state in
      switch state {
      case .taken, .written: return .taken
      case .closed, .open:
        state = .closed
        return .withdrawn
      case .published(let claimed):
        state = .closed
        return .claimed(claimed)
      }
    }
  }

  // MARK: The commit

  var entity: String { JobRecord.entity }

  func begin() -> Bool {
    state.withLock { state in
      guard case .open(let terms) = state else { return false }
      state = .taken(terms)
      return true
    }
  }

  func write(in transaction: WriteTransaction) throws {
    guard case .taken(let terms) = state.withLock({ $0 }) else { return }
    // The writer of the commit must not wait for the jobs of schedules.
    try JobTable(transaction).requireRunner(terms.epoch)
    let exchange = try JobExchange.run([], [], terms, firesSchedules: false, in: transaction)
    state.withLock { $0 = .written(exchange.claimed) }
  }

  func publish(_ result: Result<Void, any Error>) {
    state.withLock { state in
      if case (.success, .written(let claimed)) = (result, state) {
        state = .published(claimed)
      } else {
        state = .published([])
      }
    }
    wake()
  }
}
