import EntityStore

import SystemSupport

/// What an idle runner would take on, held out to the commits of its own process.
///
/// A commit that changes jobs may take the offer up, and then holds the claim of what it has enqueued: the
/// job is durable and claimed with one flush of the disk, and begins as soon as its enqueue returns. For
/// all other commits, of this process and of others, the runner wakes and claims by itself.
final class ClaimOffer: Sendable {
  enum Settlement {
    /// It was not taken up, and is withdrawn.
    case withdrawn
    /// A commit has it just now; the runner is woken when it has come through.
    case riding
    /// What was claimed; nothing, if the commit has failed.
    case claimed([JobRecord])
  }

  private enum State {
    case closed
    case open(ClaimTerms)
    case riding
    case landed([JobRecord])
  }

  private let state = Locked(State.closed)

  /// Holds terms out until they are settled; not while there is a claim that has not been taken over.
  func open(_ terms: ClaimTerms) {
    state.withLock { state in
      switch state {
      case .closed, .open: state = .open(terms)
      case .riding, .landed: break
      }
    }
  }

  func settle() -> Settlement {
    state.withLock { state in
      switch state {
      case .riding: return .riding
      case .closed, .open:
        state = .closed
        return .withdrawn
      case .landed(let claimed):
        state = .closed
        return .claimed(claimed)
      }
    }
  }

  /// Whether a commit has it, or has claimed under it and the runner has not begun what was claimed.
  var isRiding: Bool {
    state.withLock { state in
      switch state {
      case .riding, .landed: true
      case .closed, .open: false
      }
    }
  }

  /// - Parameter wake: Called when a commit that has taken the offer up has come through, or not.
  func rider(_ wake: @escaping @Sendable () -> Void) -> CommitRider {
    CommitRider(onChangesOf: JobRecord.entity) { [self] in
      guard let terms = take() else { return nil }
      let claimed = Locked<[JobRecord]>([])
      return CommitRider.Ride { transaction in
        // Somebody else's commit: what schedules make is not for it to wait for.
        let exchange = try JobExchange.run(
          [], [], terms, firesSchedules: false, in: transaction)
        let jobs = exchange.claimed
        claimed.withLock { $0 = jobs }
      } completion: { [self] result in
        let jobs: [JobRecord] = if case .success = result { claimed.withLock { $0 } } else { [] }
        state.withLock { $0 = .landed(jobs) }
        wake()
      }
    }
  }

  private func take() -> ClaimTerms? {
    state.withLock { state in
      guard case .open(let terms) = state else { return nil }
      state = .riding
      return terms
    }
  }
}
