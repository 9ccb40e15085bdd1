import Foundation

/// The numbers of jobs and rounds.
struct JobPlan {
  /// The jobs of one turn with large commits.
  let jobs: Int
  let rounds: Int
  /// The jobs of one repetition in a turn with small commits.
  let slice: Int
  /// The jobs whose start is measured, one after another.
  let starts: Int
  /// The shortest time of a turn with small commits.
  var turn = Duration.seconds(1)
  /// The time for which a stopped or an idle worker is observed.
  var pause = Duration.seconds(10)
  /// The time after which a worker without jobs counts as idle.
  var rest = Duration.seconds(2)

  /// The plan of a smoke run.
  static let quick = JobPlan(
    jobs: 1000, rounds: 1, slice: 64, starts: 5, turn: .milliseconds(20), pause: .milliseconds(500),
    rest: .milliseconds(200))

  let producers = 64
  let batch = 128
}

/// Runs the same operations on all queues. In each round the queues start empty, and all of them
/// complete an operation before any starts the next one, so that a slow minute of the machine
/// affects all.
struct JobRounds {
  let candidates: [any JobCandidate]
  let plan: JobPlan
  let scratch: ScratchFolder
  private var results = Measurements()
  /// The jobs of this round that each candidate has enqueued, and those it has finished.
  private var enqueued: [Int] = []
  private var finished: [Int] = []

  init(candidates: [any JobCandidate], plan: JobPlan, scratch: ScratchFolder) {
    self.candidates = candidates
    self.plan = plan
    self.scratch = scratch
  }

  /// Measures all operations.
  ///
  /// - Throws: `mismatch` if a queue lost a job or finished one twice.
  mutating func run() async throws -> Measurements {
    for round in 1...plan.rounds {
      reportProgress("jobs: round \(round) of \(plan.rounds)")
      enqueued = candidates.map { _ in 0 }
      finished = candidates.map { _ in 0 }
      for candidate in candidates {
        try await candidate.open(in: scratch.emptyFolder("\(candidate.name)"))
      }
      try await enqueue(.enqueueOne, jobs: plan.slice, perCommit: 1, by: .thread)
      try await enqueue(.enqueueAwaited, jobs: plan.slice, perCommit: 1, by: .tasks(1))
      try await enqueue(
        .enqueueMany, jobs: plan.slice, perCommit: 1, by: .tasks(plan.producers))
      try await enqueue(.enqueueHundred, jobs: plan.jobs, perCommit: 100, by: .thread)
      try await drain()
      try await live(.live, batch: 1)
      try await live(.liveBatched, batch: plan.batch)
      try await starts()
      try await enqueueValues()
      try await check()
      for candidate in candidates { try await candidate.close() }
    }
    return results
  }

  private mutating func enqueue(
    _ operation: Operation, jobs: Int, perCommit: Int, by producers: Producers
  ) async throws {
    for (index, candidate) in candidates.enumerated() {
      let speed = try await speed(ofTurnsOf: jobs) {
        try await candidate.enqueue(jobs, perCommit: perCommit, by: producers)
      }
      enqueued[index] += speed.jobs
      results.add(speed.perSecond, to: operation, of: candidate.name)
    }
  }

  /// Measures claims and finishes of all enqueued jobs.
  private mutating func drain() async throws {
    for (index, candidate) in candidates.enumerated() {
      sync()
      let jobs = enqueued[index] - finished[index]
      let drain = try await candidate.drain(jobs, batch: plan.batch)
      finished[index] += jobs
      results.add(Double(jobs) / drain.claiming, to: .claim, of: candidate.name)
      results.add(Double(jobs) / drain.finishing, to: .finish, of: candidate.name)
    }
  }

  /// Measures the time from the first enqueue to the last finish, with one worker and many
  /// producers.
  private mutating func live(_ operation: Operation, batch: Int) async throws {
    let plan = plan
    for (index, candidate) in candidates.enumerated() {
      let speed = try await speed(ofTurnsOf: plan.slice) {
        async let worker: Void = candidate.run(plan.slice, batch: batch) {}
        try await candidate.enqueue(plan.slice, perCommit: 1, by: .tasks(plan.producers))
        try await worker
      }
      enqueued[index] += speed.jobs
      finished[index] += speed.jobs
      results.add(speed.perSecond, to: operation, of: candidate.name)
    }
  }

  /// Measures how soon an idle worker starts a new job.
  private mutating func starts() async throws {
    let plan = plan
    for (index, candidate) in candidates.enumerated() {
      sync()
      let (started, continuation) = AsyncStream.makeStream(of: ContinuousClock.Instant.self)
      async let worker: Void = candidate.run(plan.starts, batch: 1) {
        continuation.yield(.now)
      }
      var afterCall: [Double] = []
      var afterReturn: [Double] = []
      var starts = started.makeAsyncIterator()
      for _ in 0..<plan.starts {
        // The worker finishes the last job and waits again.
        try await Task.sleep(for: .milliseconds(10))
        let (called, returned) = try await candidate.enqueueOne()
        guard let start = await starts.next() else { break }
        afterCall.append((start - called).seconds * 1000)
        afterReturn.append((start - returned).seconds * 1000)
      }
      try await worker
      enqueued[index] += plan.starts
      finished[index] += plan.starts
      if let median = Summary(afterCall)?.median {
        results.add(median, to: .startAfterCall, of: candidate.name)
      }
      if let median = Summary(afterReturn)?.median {
        results.add(median, to: .startAfterReturn, of: candidate.name)
      }
    }
  }

  /// Measures enqueues of jobs that are Swift values, which only Mooring has. It comes last in a
  /// round, so that all candidates drain the same number of jobs.
  private mutating func enqueueValues() async throws {
    for (index, candidate) in candidates.enumerated() {
      guard let candidate = candidate as? MooringJobs else { continue }
      let speed = try await speed(ofTurnsOf: plan.jobs) {
        try await candidate.enqueueValues(plan.jobs, perCommit: 100)
      }
      results.add(speed.perSecond, to: .enqueueHundredValues, of: candidate.name)
      _ = try await candidate.drain(speed.jobs, batch: plan.batch)
      enqueued[index] += speed.jobs
      finished[index] += speed.jobs
    }
  }

  private func check() async throws {
    for (index, candidate) in candidates.enumerated() {
      let count = try await candidate.finished()
      guard count == enqueued[index], count == finished[index] else {
        throw BenchError(
          .mismatch, "\(candidate.name): \(count) of \(enqueued[index]) jobs are finished")
      }
    }
  }

  /// Repeats `body`, which handles `jobs` jobs, until the turn has lasted long enough.
  private func speed(
    ofTurnsOf jobs: Int, _ body: () async throws -> Void
  ) async throws -> (perSecond: Double, jobs: Int) {
    // Otherwise the first flush of this candidate would include the pages of the last one.
    sync()
    var total = 0
    let start = ContinuousClock.now
    repeat {
      try await body()
      total += jobs
    } while ContinuousClock.now - start < plan.turn
    return (Double(total) / (ContinuousClock.now - start).seconds, total)
  }
}
