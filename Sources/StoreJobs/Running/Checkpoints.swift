import DurableJobs

extension JobContext {
  /// Runs work that commits in chunks of its own, and notes with the job that it gets on: so its runner
  /// may die any number of times before the job counts as poison.
  ///
  /// The work is cancelled as soon as the claim is lost: another attempt goes on with it then.
  ///
  /// - Parameter work: Calls what it is given after each commit, with how much is done.
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
        try await note(commits)
        return nil
      }
      var result: R?
      while let ended = try await group.next() { result = ended ?? result }
      // The work has thrown, or it has returned a result.
      guard let result else { throw CancellationError() }
      return result
    }
  }

  /// The first commit is noted at once, and later ones now and then: each time is a commit itself.
  private func note(_ commits: AsyncStream<Int64>) async throws {
    var noted: ContinuousClock.Instant?
    for await done in commits {
      if let noted, ContinuousClock.now - noted < Limits.checkpointInterval { continue }
      try await write(checkpoint: done) { _ in }
      noted = .now
    }
  }
}
