import EntityStore

import class LMDB.Guarded

/// The enqueues of one queue that wait for the writer: one transaction takes them all.
///
/// Writes that share a commit have a transaction each within it, so that one that fails does not harm
/// the others, and that costs more than to enqueue a job. Here the same is had for less: if a job is
/// refused, nothing is written, and each of them is enqueued again in a transaction of its own.
final class EnqueueGroup: Sendable {
  private struct Waiting: Sendable {
    let request: JobRequest
    let continuation: CheckedContinuation<EnqueuedJob, any Error>
  }

  /// What has become of a group within its transaction.
  private enum Attempt: Sendable {
    case enqueued([Waiting], [EnqueuedJob])
    case refused([Waiting])
  }

  private let store: Store
  private let waiting = Guarded<[Waiting]>([])

  init(_ store: Store) { self.store = store }

  /// Returns after the durable commit.
  func enqueue(_ request: JobRequest) async throws -> EnqueuedJob {
    try await withCheckedThrowingContinuation { continuation in
      let isFirst = waiting.withLock { waiting in
        waiting.append(Waiting(request: request, continuation: continuation))
        return waiting.count == 1
      }
      // One write is under way to the writer for as long as some wait.
      if isFirst { writeNext() }
    }
  }

  private func writeNext() { write { [self] in take() } }

  private func take() -> [Waiting] {
    let (taken, more) = waiting.withLock { waiting in
      let taken = Array(waiting.prefix(Limits.movesPerTransactionMax))
      waiting.removeFirst(taken.count)
      return (taken, !waiting.isEmpty)
    }
    if more { writeNext() }
    return taken
  }

  /// - Parameter take: Says what to enqueue when the writer gets to it.
  private func write(_ take: @escaping @Sendable () -> [Waiting]) {
    let attempt = Guarded<Attempt?>(nil)
    store.write(author: "jobs") { transaction in
      let group = take()
      do {
        let table = try JobTable(transaction)
        let jobs = try group.map { try table.enqueue($0.request) }
        attempt.withLock { $0 = .enqueued(group, jobs) }
      } catch {
        attempt.withLock { $0 = .refused(group) }
        throw error
      }
    } completion: { [self] result in
      switch (result, attempt.withLock { $0 }) {
      case (.success, .enqueued(let group, let jobs)):
        for (each, job) in zip(group, jobs) { each.continuation.resume(returning: job) }
      case (.failure, .refused(let group)) where group.count > 1:
        for each in group { write { [each] } }
      case (.failure(let error), .enqueued(let group, _)),
        (.failure(let error), .refused(let group)):
        for each in group { each.continuation.resume(throwing: error) }
      case (.failure(let error), nil):
        for each in take() { each.continuation.resume(throwing: error) }
      case (.success, .refused), (.success, nil):
        assertionFailure("a write that succeeds has enqueued")
      }
    }
  }
}
