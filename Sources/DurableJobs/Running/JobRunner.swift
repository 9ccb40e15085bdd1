import Dispatch
public import EntityStore
import Foundation
import Logging

import SystemSupport

/// Claims jobs and runs them.
///
/// A runner is an actor on a Dispatch queue of its own. It sleeps until there is a commit, until the next
/// job's time has come, or until one of its own ends; then it looks, and if there is something to do it
/// writes what has ended and claims what comes next in one transaction. A wake is only a hint: what is
/// to be done is always read from the store.
///
/// Any number of runners, in any number of processes, may serve one store. No job is run by two at once:
/// a claim is valid until its job is finished under it or its runner's process is dead.
public actor JobRunner {
  nonisolated public var unownedExecutor: UnownedSerialExecutor {
    executor.asUnownedSerialExecutor()
  }

  private enum Phase {
    case working
    /// No claims any more; what runs may come to its end until then.
    case draining(until: ContinuousClock.Instant)
    /// What runs has been cancelled, and is waited for until then.
    case cancelling(until: ContinuousClock.Instant)
  }

  private struct Ended: Sendable {
    let job: RunningJob
    let outcome: Outcome?
    let startedAt: ContinuousClock.Instant
  }

  let store: Store
  private let handlers: JobHandlers
  private var options: RunnerOptions
  private let executor = DispatchExecutor(label: "mooring.jobs")
  private let threads: BoundedThreads
  private let wakeups: Wakeups
  private let alarm: Alarm
  private let clock = ContinuousClock()
  private let offer = ClaimOffer()
  /// Ended attempts that are not written yet.
  private let ended = Locked<[Ended]>([])

  private var phase = Phase.working
  private var running: [JobID: RunningJob] = [:]
  private var waited: [JobID: Duration] = [:]
  private var cancelledAt: [JobID: ContinuousClock.Instant] = [:]
  private var progressDueAt: ContinuousClock.Instant?
  private var cancellationsReadAt: ContinuousClock.Instant?
  private var othersCheckedAt: ContinuousClock.Instant?
  private var retryAt: ContinuousClock.Instant?
  private var condition = RunnerCondition.working
  private var hasNotedStop = false
  private var hasOthers = false
  /// Whether a wake was not followed by a look at what was cancelled, or at the other runners, because
  /// the last one was too recent.
  private var owesCancellations = false
  private var owesOthers = false

  public init(_ store: Store, _ handlers: JobHandlers, options: RunnerOptions = RunnerOptions()) {
    self.store = store
    self.handlers = handlers
    self.options = options
    threads = BoundedThreads("mooring.job", threadsMax: options.blockingThreads)
    let wakeups = Wakeups()
    self.wakeups = wakeups
    alarm = Alarm(on: executor.queue) { wakeups.wake() }
  }

  /// Runs jobs until it is stopped.
  ///
  /// When this returns, nothing that was written is lost, and no claim of this runner is left but those
  /// of handlers that do not end. Cancelling the task stops at once.
  ///
  /// - Throws: `StoreError` if the store cannot be used any more. A full disk and a writer that takes
  ///   too long are waited out.
  public func run() async throws {
    // A task of its own: in one that is cancelled nothing could be waited for any more.
    let serving = Task(executorPreference: executor.tasks) { try await self.serve() }
    try await withTaskCancellationHandler {
      try await serving.value
    } onCancel: { [executor] in
      Task(executorPreference: executor.tasks) { await self.stop(within: .zero) }
    }
  }

  private func serve() async throws {
    guard let lease = try await register() else { return }
    let listening = try listen()
    let endRides = store.add(offer.rider { [wakeups] in wakeups.wake() })
    defer {
      endRides()
      listening.cancel()
    }
    do {
      try await work(lease)
    } catch {
      for job in running.values { job.cancel(.stopping) }
      throw error
    }
  }

  /// Stops in order: no more claims, then time for what runs, then cancellation. A job that is cancelled
  /// so goes back to its queue, and the attempt does not count. Returns at once; `run` returns when
  /// everything has ended.
  public func stop(within bound: Duration) {
    var until = clock.now + bound
    switch phase {
    case .working: break
    // The first order may have been more urgent.
    case .draining(let earlier): until = min(until, earlier)
    case .cancelling: return
    }
    phase = .draining(until: until)
    wakeups.wake()
  }

  /// Changes how much the runner does at once. What runs goes on.
  public func limit(concurrency: Int, queues: [QueueName: Int]) {
    options.concurrency = concurrency
    options.queueLimits = queues
    wakeups.wake()
  }

  /// Lets the runner look at the store: for time that is set by hand.
  nonisolated package func wake() { wakeups.wake() }

  /// How many jobs run just now.
  public var runningCount: Int { running.count }

  /// - Returns: `nil` if the runner is to stop before the store could be written.
  private func register() async throws -> RunnerLease? {
    while case .working = phase {
      do {
        let lease = try await RunnerLease.take(
          in: store, command: options.command, kinds: handlers.kinds)
        change(to: .working)
        options.onStart()
        return lease
      } catch {
        try wait(after: error)
        try await Task.sleep(for: Limits.retryInterval)
      }
    }
    return nil
  }

  /// A task that turns each commit of the store into a wake.
  private func listen() throws -> Task<Void, any Error> {
    let commits = try store.commits.observe()
    return Task.detached(executorPreference: executor.tasks) { [wakeups] in
      defer { wakeups.finish() }
      var seen = 0
      while true {
        do {
          seen = try await commits.next(after: seen)
        } catch let error as StoreError where error.passes {
          // As when there are too many readers just now: the runner looks for itself meanwhile.
          try await Task.sleep(for: Limits.retryInterval)
        }
        wakeups.wake()
      }
    }
  }

  private func work(_ lease: RunnerLease) async throws {
    for await _ in wakeups.stream where try await turn(lease) { return await leave(lease) }
    // The wakes end only when the store can be followed no longer, as when it was closed.
    _ = try store.read { $0.storeID }
    throw JobError(
      .busy, "the commits of the store cannot be followed any more", [], advice: "start again")
  }

  // MARK: One turn

  /// Does what there is to do, and sets the alarm for what comes next.
  ///
  /// - Returns: Whether the runner has come to its end.
  private func turn(_ lease: RunnerLease) async throws -> Bool {
    while true {
      if case .claimed(let jobs) = offer.settle() { for job in jobs { start(job, lease) } }
      advancePhase()
      expireAttempts()
      if isDone { return true }
      if let retryAt, clock.now < retryAt { break }
      do {
        try await noteStopping(lease)
        try await rescueDead(lease)
        let hadWork = try await exchange(lease)
        // Also if another runner has done meanwhile what this one could not.
        if case .blocked = condition { change(to: .working) }
        guard hadWork else { break }
      } catch {
        try wait(after: error)
        break
      }
    }
    do {
      try setAlarm(lease)
    } catch {
      try wait(after: error)
      alarm.set(to: nil, now: store.now(), after: Limits.retryInterval)
    }
    holdOut(lease)
    return false
  }

  /// Lets the next commit of this process claim what it enqueues.
  private func holdOut(_ lease: RunnerLease) {
    let terms = claimTerms(lease)
    guard terms.count > 0, retryAt.map({ $0 <= clock.now }) ?? true else { return }
    offer.open(terms)
  }

  /// Writes what has ended and claims what comes next, in one transaction.
  ///
  /// - Returns: Whether there was something to do.
  private func exchange(_ lease: RunnerLease) async throws -> Bool {
    let known = ended.withLock { $0 }
    let terms = claimTerms(lease, ending: known)
    let survey = try survey(terms, isNeeded: known.isEmpty)
    for id in survey.cancelled { cancel(id, .cancelled) }
    let progress = takeProgress()
    guard !known.isEmpty || !progress.isEmpty || survey.hasWork else { return false }
    let mayClaim = canClaim
    let written = Locked<[Ended]>([])
    do {
      let exchange = try await store.write(author: "jobs") { [ended] transaction in
        // Also what has ended while the writer was busy: a commit for all of them takes as long as for
        // one, and each makes room.
        let all = ended.withLock { ended in
          defer { ended = [] }
          return ended
        }
        written.withLock { $0 = all }
        var terms = terms
        for late in all.dropFirst(known.count) where mayClaim {
          terms.makeRoom(in: late.job.queue)
        }
        return try JobExchange.run(
          all.map { ($0.job.claim, $0.outcome) },
          progress + all.compactMap { $0.job.takeClaimedProgress() }, terms, in: transaction)
      }
      let all = written.withLock { $0 }
      for (attempt, result) in zip(all, exchange.results) { forget(attempt, result) }
      for job in exchange.claimed { start(job, lease) }
      return !all.isEmpty || !exchange.claimed.isEmpty || exchange.heldBack > 0
    } catch {
      // They are written when the store can be written again.
      let all = written.withLock { $0 }
      self.ended.withLock { $0 = all + $0 }
      throw error
    }
  }

  private var canClaim: Bool {
    if case .working = phase { !offer.isRiding } else { false }
  }

  private func claimTerms(_ lease: RunnerLease) -> ClaimTerms {
    claimTerms(lease, ending: ended.withLock { $0 })
  }

  /// - Parameter ending: What has ended and is not written yet: it makes room in the same transaction.
  private func claimTerms(_ lease: RunnerLease, ending: [Ended]) -> ClaimTerms {
    var terms = ClaimTerms(epoch: lease.epoch, count: 0, kinds: handlers.kinds)
    guard canClaim else { return terms }
    let ending = Set(ending.map(\.job.claim.job))
    let still = running.keys.filter { !ending.contains($0) }
    terms.count = options.concurrency - still.count
    terms.admitsSuspect = !still.contains { running[$0]?.isSuspect ?? false }
    for (queue, limit) in options.queueLimits {
      let busy = still.reduce(0) { $0 + (running[$1]?.queue == queue ? 1 : 0) }
      terms.queueRoom[queue] = limit - busy
    }
    return terms
  }

  private struct Survey {
    var hasWork = false
    var cancelled: [JobID] = []
  }

  /// What the store says there is to do: a read, so that a wake for nothing costs no commit.
  ///
  /// - Parameter isNeeded: `false` if there is something to do in any case.
  private func survey(_ terms: ClaimTerms, isNeeded: Bool) throws -> Survey {
    let readsCancellations = isDue(cancellationsReadAt, every: Limits.cancellationsInterval)
    if readsCancellations { cancellationsReadAt = clock.now }
    owesCancellations = !readsCancellations
    let running = readsCancellations ? Array(self.running.keys) : []
    let looksForWork = isNeeded && terms.count > 0
    guard !running.isEmpty || looksForWork else { return Survey() }
    let now = store.now()
    return try store.read { transaction in
      let rows = try JobRows(reading: transaction)
      var survey = Survey()
      survey.cancelled = try running.filter { try rows.isCancelled($0) }
      guard looksForWork else { return survey }
      survey.hasWork = try rows.nextTime().map { $0 <= now } ?? false
      if !survey.hasWork { survey.hasWork = try !rows.lanes(servedUnder: terms).isEmpty }
      return survey
    }
  }

  // MARK: Attempts

  private func start(_ job: JobRecord, _ lease: RunnerLease) {
    guard let claim = job.claim, let handler = handlers.byKind[job.kind] else { return }
    let began = clock.now
    let attempt = RunningJob(job, claim: claim, began: began) { [weak self, executor] in
      Task(executorPreference: executor.tasks) { await self?.noteProgress() }
    }
    running[job.id] = attempt
    waited[job.id] = .seconds(max(0, store.now().timeIntervalSince(job.runAt)))
    let context = JobContext(
      id: job.id, kind: job.kind, queue: job.queue, attempt: attempt.attempt, store: store,
      runnerLogger: options.logger, payload: job.payload, checkpointData: job.checkpoint,
      running: attempt)
    let tasks = handler.blocks ? executor.tasks : nil
    attempt.start(on: tasks) { [threads, ended, wakeups, random = options.random] in
      // Nobody takes the job over while this runs, also if the runner has given up waiting for it.
      defer { withExtendedLifetime(lease) {} }
      var result: Result<Data?, any Error>
      do {
        result = .success(try await handler.run(context, threads))
      } catch {
        result = .failure(error)
      }
      let outcome = attempt.outcome(of: result, backoff: handler.backoff, random: random)
      ended.withLock { $0.append(Ended(job: attempt, outcome: outcome, startedAt: began)) }
      wakeups.wake()
    }
  }

  private func forget(_ attempt: Ended, _ result: FinishResult?) {
    let id = attempt.job.claim.job
    running[id] = nil
    cancelledAt[id] = nil
    var state: JobState?
    switch result {
    case .finished(let now): state = now
    case .lostClaim: state = nil
    case nil: state = .succeeded
    }
    options.onEnd(
      EndedAttempt(
        job: id, kind: attempt.job.kind, queue: attempt.job.queue, attempt: attempt.job.attempt,
        state: state, error: attempt.outcome?.error, waited: waited[id] ?? .zero,
        ran: clock.now - attempt.startedAt))
    waited[id] = nil
  }

  private func cancel(_ id: JobID, _ reason: RunningJob.Reason) {
    guard let job = running[id], !job.isCancelled else { return }
    job.cancel(reason)
    cancelledAt[id] = clock.now
  }

  private func expireAttempts() {
    for (id, job) in running where job.deadline.map({ $0 <= clock.now }) ?? false {
      cancel(id, .timedOut)
    }
    // What has ended may not have been written then, and is no handler that does not end.
    if case .blocked = condition { return }
    let stuck = cancelledAt.values.filter { $0 + options.cancelGrace <= clock.now }.count
    if stuck > 0 {
      change(to: .stuck(stuck))
    } else if case .stuck = condition {
      change(to: .working)
    }
  }

  private func noteProgress() {
    guard progressDueAt == nil else { return }
    progressDueAt = clock.now + Limits.progressInterval
    wakeups.wake()
  }

  private func takeProgress() -> [(Claim, JobProgress)] {
    guard let progressDueAt, progressDueAt <= clock.now else { return [] }
    self.progressDueAt = nil
    return running.values.compactMap { $0.takeClaimedProgress() }
  }

  // MARK: The dead

  /// Takes over the jobs of runners whose process has died.
  private func rescueDead(_ lease: RunnerLease) async throws {
    owesOthers = !isDue(othersCheckedAt, every: Limits.othersInterval)
    if owesOthers { return }
    othersCheckedAt = clock.now
    let others = try store.read { try RunnerRow.others(than: lease.epoch, in: $0) }
    hasOthers = !others.isEmpty
    for other in others where try !RunnerLease.isAlive(other.epoch, in: store) {
      try await JobRescue.run(other.epoch, in: store)
      options.logger.notice(
        "took over the jobs of a runner that died", metadata: ["epoch": "\(other.epoch)"])
    }
  }

  // MARK: Stopping

  private func noteStopping(_ lease: RunnerLease) async throws {
    if case .working = phase { return }
    guard !hasNotedStop else { return }
    try await store.write(author: "jobs") { try JobTable($0).noteStopping(lease.epoch) }
    hasNotedStop = true
  }

  private func advancePhase() {
    switch phase {
    case .working: return
    case .draining(let until):
      guard !running.isEmpty, clock.now >= until else { return }
      phase = .cancelling(until: clock.now + options.cancelGrace)
    // What a commit had claimed just then begins only now.
    case .cancelling: break
    }
    for job in running.values { job.cancel(.stopping) }
  }

  private var isDone: Bool {
    switch phase {
    case .working: false
    case .draining: running.isEmpty && !offer.isRiding
    case .cancelling(let until): running.isEmpty && !offer.isRiding || clock.now >= until
    }
  }

  /// What does not end keeps the runner's record, so that whoever comes next takes it over once this
  /// process is gone.
  private func leave(_ lease: RunnerLease) async {
    do {
      // What has ended in the last moment.
      _ = try await exchange(lease)
      guard running.isEmpty else { return }
      try await store.write(author: "jobs") { try JobTable($0).removeRunner(lease.epoch) }
    } catch {
      // It has no jobs, and whoever comes next finds that it is dead.
      options.logger.debug("a runner's record stays", metadata: ["error": "\(error)"])
    }
  }

  // MARK: Waiting

  /// - Throws: The error, if waiting does not help.
  private func wait(after error: any Error) throws {
    // Without a descriptor left, nobody can be asked who lives.
    let passes = (error as? StoreError)?.passes ?? ((error as? JobError)?.code == .busy)
    guard passes else { throw error }
    change(to: .blocked("\(error)"))
    retryAt = clock.now + Limits.retryInterval
  }

  private func change(to new: RunnerCondition) {
    guard new != condition else { return }
    condition = new
    options.onCondition(new)
  }

  private func setAlarm(_ lease: RunnerLease) throws {
    let now = clock.now
    var next: [ContinuousClock.Instant] = []
    if let retryAt, retryAt > now {
      next = [retryAt]
    } else {
      next = running.values.filter { !$0.isCancelled }.compactMap(\.deadline)
      next += cancelledAt.values.map { $0 + options.cancelGrace }.filter { $0 > now }
      if let progressDueAt { next.append(progressDueAt) }
      if retryAt != nil, ended.withLock({ !$0.isEmpty }) { next.append(now) }
      if owesCancellations, !running.isEmpty { next.append(now + Limits.cancellationsInterval) }
      if owesOthers || hasOthers { next.append(now + Limits.othersInterval) }
      switch phase {
      case .working: break
      case .draining(let until), .cancelling(let until): next.append(until)
      }
    }
    // Without room nothing can be done about what becomes due, and the end of an attempt wakes.
    var due: Date?
    if claimTerms(lease).count > 0, retryAt.map({ $0 <= now }) ?? true {
      due = try store.read { try JobRows(reading: $0).nextTime() }
    }
    alarm.set(to: due, now: store.now(), after: next.min().map { now.duration(to: $0) })
  }

  private func isDue(_ last: ContinuousClock.Instant?, every interval: Duration) -> Bool {
    last.map { clock.now - $0 >= interval } ?? true
  }
}
