import DurableJobs

extension JobContext {
  /// Runs work that commits in chunks of its own, and stores checkpoints of the job while it makes
  /// progress: the job is not poisoned, however often its runner dies.
  ///
  /// The work is cancelled as soon as the claim is lost, because another attempt continues it then.
  ///
  /// - Parameter work: Calls `committed` after each commit, with the amount that is done.
  func withCheckpoints<R: Sendable>(
    _ work: @escaping @Sendable (_ committed: @escaping @Sendable (Int64) -> Void) async throws -> R
  ) async throws -> R {
    let (commits, reached) = AsyncStream.makeStream(
      of: Int64.self, bufferingPolicy: .bufferingNewest(1))
    return try await withThrowingTaskGroup(of: R?.self) { group in
      group.addTask {
        defer { reached.finish() }
        return try await work { reached.yield($0) }
      }
      group.addTask {
        try await storeCheckpoints(commits)
        return nil
      }
      var result: R?
      while let ended = try await group.next() { result = ended ?? result }
      // The work has thrown, or it has returned a result.
      guard let result else { throw CancellationError() }
      return result
    }
  }

  /// Stores a checkpoint after the first commit, and after later ones at intervals: each is a
  /// commit.
  private func storeCheckpoints(_ commits: AsyncStream<Int64>) async throws {
    var storedAt: ContinuousClock.Instant?
    for await done in commits {
      if let storedAt, ContinuousClock.now - storedAt < Limits.checkpointInterval { continue }
      try await write(checkpoint: done) { _ in }
      storedAt = .now
    }
  }
}
