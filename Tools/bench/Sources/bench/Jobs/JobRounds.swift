import Foundation

struct JobPlan {
  /// In the figures of large commits.
  let jobs: Int
  let rounds: Int
  /// Jobs of small commits, whose number a turn repeats.
  let slice: Int
  /// Jobs whose start is waited for, one after another.
  let starts: Int
  /// A turn of small commits goes on for so long at least.
  var turn = Duration.seconds(1)
  /// How long a worker is watched that stands still, or has nothing to do.
  var pause = Duration.seconds(10)
  /// Until a worker that has worked is idle.
  var rest = Duration.seconds(2)

  /// A smoke run.
  static let quick = JobPlan(
    jobs: 1000, rounds: 1, slice: 64, starts: 5, turn: .milliseconds(20), pause: .milliseconds(500),
    rest: .milliseconds(200))

  let producers = 64
  let batch = 128
}

/// Drives all queues through the same figures. In each round every queue starts empty, and takes
/// its turn of a figure before any begins the next, so that a slow minute of the machine falls on
/// all.
struct JobRounds {
  let candidates: [any JobCandidate]
  let plan: JobPlan
  let scratch: ScratchFolder
  private var results = Measurements()
  /// Of this round, by candidate.
  private var enqueued: [Int] = []
  private var finished: [Int] = []

  init(candidates: [any JobCandidate], plan: JobPlan, scratch: ScratchFolder) {
    self.candidates = candidates
    self.plan = plan
    self.scratch = scratch
  }

  /// - Throws: `mismatch` when a queue has lost a job or finished one twice.
  mutating func run() async throws -> Measurements {
    for round in 1...plan.rounds {
      note("jobs: round \(round) of \(plan.rounds)")
      enqueued = candidates.map { _ in 0 }
      finished = candidates.map { _ in 0 }
      for candidate in candidates {
        try await candidate.open(in: scratch.emptyFolder("\(candidate.name)"))
      }
      try await enqueue(.enqueueOne, jobs: plan.slice, perCommit: 1, producers: 1)
      try await enqueue(.enqueueMany, jobs: plan.slice, perCommit: 1, producers: plan.producers)
      try await enqueue(.enqueueHundred, jobs: plan.jobs, perCommit: 100, producers: 1)
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
    _ operation: Operation, jobs: Int, perCommit: Int, producers: Int
  ) async throws {
    for (index, candidate) in candidates.enumerated() {
      let speed = try await speed(ofTurnsOf: jobs) {
        try await candidate.enqueue(jobs, perCommit: perCommit, producers: producers)
      }
      enqueued[index] += speed.jobs
      results.add(speed.perSecond, to: operation, of: candidate.name)
    }
  }

  /// All jobs that the enqueues have left.
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

  /// From the first enqueue to the last finish, with one worker beside the producers.
  private mutating func live(_ operation: Operation, batch: Int) async throws {
    let plan = plan
    for (index, candidate) in candidates.enumerated() {
      let speed = try await speed(ofTurnsOf: plan.slice) {
        async let worker: Void = candidate.run(plan.slice, batch: batch) {}
        try await candidate.enqueue(plan.slice, perCommit: 1, producers: plan.producers)
        try await worker
      }
      enqueued[index] += speed.jobs
      finished[index] += speed.jobs
      results.add(speed.perSecond, to: operation, of: candidate.name)
    }
  }

  /// How long an idle worker takes to begin with a job.
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
        // Until it has finished the job before and waits again.
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

  /// Only Mooring has jobs that are Swift values. At the end of a round, so that its drain before
  /// that was of as many jobs as the others'.
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
      let told = try await candidate.finished()
      guard told == enqueued[index], told == finished[index] else {
        throw BenchError(
          .mismatch, "\(candidate.name): \(told) of \(enqueued[index]) jobs are finished")
      }
    }
  }

  /// Repeats `body`, which handles `jobs`, until the turn has lasted long enough.
  private func speed(
    ofTurnsOf jobs: Int, _ body: () async throws -> Void
  ) async throws -> (perSecond: Double, jobs: Int) {
    // What one candidate left for the disk is not to be paid by the next one's flush.
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
