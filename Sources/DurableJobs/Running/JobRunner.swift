import Dispatch
public import EntityStore
import Foundation
import Logging
import SystemSupport

/// Claims jobs and runs them.
///
/// A runner is an actor on a Dispatch queue of its own. It sleeps until there is a commit, until
/// the next job is due, or until an attempt ends; then it reads the store, and if there is work it
/// writes what has ended and claims what comes next in one transaction. What to do when is decided
/// by `RunnerState`.
///
/// Any number of runners, in any number of processes, may serve one store. No two of them run the
/// same job at once: a claim is valid until its job is finished under it or its runner's process is
/// dead.
public actor JobRunner {
  nonisolated public var unownedExecutor: UnownedSerialExecutor {
    executor.asUnownedSerialExecutor()
  }

  private struct Ended: Sendable {
    let job: RunningJob
    /// `nil` if the handler has ended the job itself.
    let outcome: Outcome?
  }

  let store: Store
  private let handlers: JobHandlers
  private let options: RunnerOptions
  private let executor = DispatchExecutor(label: "mooring.jobs")
  private let threads: BoundedThreads
  private let wakeups: Wakeups
  private let alarm: Alarm
  private let clock = ContinuousClock()
  private let offer: ClaimOffer
  private var state: RunnerState
  private var attempts: [JobID: RunningJob] = [:]
  /// The time of the last correction, before which the clock does not lie unless it is set back.
  private var correctedAt = Date.distantFuture
  /// Ended attempts that are not written yet, in the order in which they ended.
  private let ended = Locked<[Ended]>([])

  public init(_ store: Store, _ handlers: JobHandlers, options: RunnerOptions = RunnerOptions()) {
    self.store = store
    self.handlers = handlers
    self.options = options
    threads = BoundedThreads("mooring.job", threadsMax: options.blockingThreads)
    let wakeups = Wakeups()
    self.wakeups = wakeups
    alarm = Alarm(on: executor.queue) { wakeups.wake() }
    offer = ClaimOffer { wakeups.wake() }
    state = RunnerState(
      kinds: handlers.kinds, concurrency: options.concurrency, queueLimits: options.queueLimits,
      cancelGrace: options.cancelGrace)
  }

  /// Runs jobs until the runner is stopped.
  ///
  /// When this returns, nothing that was written is lost, and no claim of this runner is left
  /// except those of handlers that do not end. Cancelling the task stops at once.
  ///
  /// - Throws: `StoreError` if the store can no longer be used. The runner waits while the disk is
  ///   full or a writer takes too long. `JobError` with `lostRunner` if others have taken it for
  ///   dead, as when its machine could not reach the hub for longer than a lease: their attempts
  ///   replace its own, which are cancelled, and a new runner can be started.
  public func run() async throws {
    // A task of its own: a cancelled one could wait for nothing.
    let serving = Task(executorPreference: executor.tasks) { try await self.serve() }
    try await withTaskCancellationHandler {
      try await serving.value
    } onCancel: { [executor] in
      Task(executorPreference: executor.tasks) { await self.stop(within: .zero) }
    }
  }

  /// Stops in order: claims no more jobs, lets attempts run for a time, then cancels them. The job
  /// of a cancelled attempt returns to its queue, and the attempt does not count. Returns at once;
  /// `run` returns when everything has ended.
  public func stop(within bound: Duration) { report(.stopRequested(within: bound)) }

  /// Changes how many jobs the runner runs at once. Running attempts continue.
  public func limit(concurrency: Int, queues: [QueueName: Int]) {
    report(.limitsChanged(concurrency: concurrency, queues: queues))
  }

  /// Makes the runner read the store: for tests that set the clock.
  nonisolated package func wake() { wakeups.wake() }

  /// The number of running attempts.
  public var runningCount: Int { attempts.count }

  // MARK: Start and end

  private func serve() async throws {
    guard let lease = try await register() else { return }
    let listening = try listen()
    let removeHook = store.add(offer)
    defer {
      removeHook()
      listening.cancel()
    }
    do {
      for await _ in wakeups.stream where try await turn(lease) { return await leave(lease) }
    } catch {
      for attempt in attempts.values { attempt.cancel(.stopping) }
      throw error
    }
    // The wakes end only when the store can no longer be observed, as when it was closed.
    _ = try store.read { $0.storeID }
    throw JobError(
      .busy, "the commits of the store can no longer be observed", [], advice: "start again")
  }

  /// - Returns: `nil` if the runner is to stop before the store could be written.
  private func register() async throws -> RunnerLease? {
    while !state.isStopping {
      do {
        let lease = try await RunnerLease.take(
          in: store, command: options.command, kinds: handlers.kinds)
        report(.registered(epoch: lease.epoch))
        options.onStart()
        return lease
      } catch {
        report(.failed(try Self.passingReason(error)))
        try await Task.sleep(for: Limits.retryInterval)
      }
    }
    return nil
  }

  /// Starts a task that wakes the runner after each commit of the store.
  private func listen() throws -> Task<Void, any Error> {
    let commits = try store.commits.observe()
    return Task.detached(executorPreference: executor.tasks) { [wakeups] in
      defer { wakeups.finish() }
      var seen = 0
      while true {
        do {
          seen = try await commits.next(after: seen)
        } catch let error as StoreError where error.passes {
          // As when there are too many readers: the runner reads the store by itself until then.
          try await Task.sleep(for: Limits.retryInterval)
        }
        wakeups.wake()
      }
    }
  }

  /// Writes the last ended attempts and removes the runner's record. The record stays while
  /// attempts run that do not end, so that the next runner takes them over once this process is
  /// gone.
  private func leave(_ lease: RunnerLease) async {
    do {
      _ = try await exchange(
        RunnerState.Exchange(
          terms: nil, endedCount: ended.withLock { $0.count }, storesProgress: false,
          hasWork: false), lease)
      guard attempts.isEmpty else { return }
      try await store.write(author: "jobs") { try JobTable($0).removeRunner(lease.epoch) }
    } catch {
      // It has no jobs, and the next runner finds that it is dead.
      options.logger.debug("a runner's record stays", metadata: ["error": "\(error)"])
    }
  }

  // MARK: Events and actions

  /// Performs the steps that the state asks for until the runner rests.
  ///
  /// - Returns: True if the runner has come to its end.
  private func turn(_ lease: RunnerLease) async throws -> Bool {
    var step = react(to: woke(lease))
    while let action = step {
      if action == .leave { return true }
      do {
        step = try await perform(action, lease).flatMap(react)
      } catch {
        step = react(to: .failed(try Self.passingReason(error)))
      }
    }
    return false
  }

  /// Hands an event to the state and performs the actions that need no waiting.
  ///
  /// - Returns: The step to perform next.
  private func react(to event: RunnerState.Event) -> RunnerState.Action? {
    let moment = RunnerState.Moment(
      now: clock.now, ended: ended.withLock { $0.map(\.job.claim.job) })
    for action in state.handle(event, at: moment) {
      switch action {
      case .cancel(let id, let reason): attempts[id]?.cancel(reason)
      case .report(let condition): options.onCondition(condition)
      case .wake: wakeups.wake()
      case .recordStop, .checkRunners, .survey, .exchange, .beginTurn, .rest, .leave: return action
      }
    }
    return nil
  }

  /// Reports an event outside of a turn, which no step follows.
  private func report(_ event: RunnerState.Event) { _ = react(to: event) }

  /// - Returns: The event that answers the step.
  private func perform(
    _ step: RunnerState.Action, _ lease: RunnerLease
  ) async throws -> RunnerState.Event? {
    switch step {
    case .recordStop:
      try await store.write(author: "jobs") { try JobTable($0).recordStop(lease.epoch) }
      return .stopRecorded
    case .checkRunners:
      let next = try await rescueDead(lease)
      try await correctTimes()
      return .runnersChecked(next: next)
    case .survey(let running, let terms):
      return try survey(cancellationsOf: running, terms)
    case .exchange(let exchange): return try await self.exchange(exchange, lease)
    case .beginTurn: return woke(lease)
    case .rest(let rest):
      let due =
        rest.offer == nil ? nil : try store.read { try JobRows(reading: $0).nextTime() }
      // A clock that is set back would let the runner sleep for that much longer.
      let longest = due == nil ? nil : Limits.clockInterval
      alarm.set(
        to: due, now: store.now(), after: [rest.wakeAfter, longest].compactMap { $0 }.min())
      if let terms = rest.offer { offer.open(terms) }
      return nil
    case .cancel, .report, .wake, .leave: return nil
    }
  }

  /// - Returns: The reason, in one line.
  /// - Throws: The error, if waiting does not help.
  private static func passingReason(_ error: any Error) throws -> String {
    // `busy`: no descriptor is left with which to ask which runners live.
    let passes = (error as? StoreError)?.passes ?? ((error as? JobError)?.code == .busy)
    guard passes else { throw error }
    return "\(error)"
  }

  /// Withdraws the offer and starts what was claimed under it.
  private func woke(_ lease: RunnerLease) -> RunnerState.Event {
    switch offer.withdraw() {
    case .withdrawn: .woke(claimed: [:], isOfferTaken: false)
    case .taken: .woke(claimed: [:], isOfferTaken: true)
    case .claimed(let jobs): .woke(claimed: start(jobs, lease), isOfferTaken: false)
    }
  }

  // MARK: Steps

  /// Takes over the jobs of runners whose process has died.
  ///
  /// - Returns: The time after which the others are to be checked again; `nil` if there are none.
  private func rescueDead(_ lease: RunnerLease) async throws -> Duration? {
    var next: [Duration] = []
    for other in try store.read({ try RunnerRow.others(than: lease.epoch, in: $0) }) {
      let life = try RunnerLease.life(of: other.epoch, in: store)
      next.append(life ?? Limits.runnersInterval)
      if life != nil { continue }
      try await JobRescue.run(other.epoch, in: store)
      options.logger.notice(
        "took over the jobs of a runner that died", metadata: ["epoch": "\(other.epoch)"])
    }
    return next.min()
  }

  /// Corrects the times of jobs and schedules at the start, and whenever the clock was set back.
  private func correctTimes() async throws {
    let now = store.now()
    while now < correctedAt {
      let isDone = try await store.write(author: "jobs") { try JobTable($0).correctTimes() }
      if isDone { break }
    }
    correctedAt = now
  }

  /// Reads whether there is work, so that a wake without work costs no commit.
  private func survey(
    cancellationsOf running: [JobID], _ terms: ClaimTerms?
  ) throws -> RunnerState.Event {
    let now = store.now()
    return try store.read { transaction in
      let rows = try JobRows(reading: transaction)
      let cancelled = try running.filter { try rows.isCancelled($0) }
      guard let terms else { return .surveyed(cancelled: cancelled, hasWork: false) }
      let isDue = try rows.nextTime().map { $0 <= now } ?? false
      return .surveyed(
        cancelled: cancelled, hasWork: try isDue || !rows.lanes(servedUnder: terms).isEmpty)
    }
  }

  /// Writes what has ended and claims what comes next, in one transaction.
  private func exchange(
    _ plan: RunnerState.Exchange, _ lease: RunnerLease
  ) async throws -> RunnerState.Event {
    let progress =
      plan.storesProgress ? attempts.values.compactMap { $0.takeClaimedProgress() } : []
    guard plan.hasWork || plan.endedCount > 0 || !progress.isEmpty else {
      return .exchanged(ended: [], claimed: [:], heldBack: 0)
    }
    let (written, exchange) = try await store.write(author: "jobs") { [ended] transaction in
      // Also those that have ended while the writer was busy: a commit for all of them takes as
      // long as for one, and each makes room.
      let all = ended.withLock { $0 }
      var terms = plan.terms
      for late in all.dropFirst(plan.endedCount) { terms?.makeRoom(in: late.job.queue) }
      if terms != nil { try JobTable(transaction).requireRunner(lease.epoch) }
      return (
        all,
        try JobExchange.run(
          all.map { ($0.job.claim, $0.outcome) },
          progress + all.compactMap { $0.job.takeClaimedProgress() }, terms, in: transaction)
      )
    }
    // Until here they stay in the list: after an error the next exchange writes them.
    ended.withLock { $0.removeFirst(written.count) }
    for (attempt, result) in zip(written, exchange.results) { remove(attempt, result) }
    return .exchanged(
      ended: written.map(\.job.claim.job), claimed: start(exchange.claimed, lease),
      heldBack: exchange.heldBack)
  }

  // MARK: Attempts

  private func start(
    _ jobs: [JobRecord], _ lease: RunnerLease
  ) -> [JobID: RunnerState.Attempt] {
    var started: [JobID: RunnerState.Attempt] = [:]
    for job in jobs {
      guard let claim = job.claim, let handler = handlers.byKind[job.kind] else { continue }
      let attempt = RunningJob(
        job, claim: claim, began: clock.now,
        waited: .stored(seconds: max(0, store.now().timeIntervalSince(job.runAt)))
      ) { [weak self, executor] in
        Task(executorPreference: executor.tasks) { await self?.report(.progressReported) }
      }
      attempts[job.id] = attempt
      started[job.id] = RunnerState.Attempt(
        queue: job.queue, isSuspect: job.isSuspect, deadline: attempt.deadline)
      run(attempt, job, handler, lease)
    }
    return started
  }

  private func run(
    _ attempt: RunningJob, _ job: JobRecord, _ handler: JobHandler, _ lease: RunnerLease
  ) {
    let context = JobContext(
      id: job.id, kind: job.kind, queue: job.queue, attempt: attempt.attempt, store: store,
      runnerLogger: options.logger, payload: job.payload, checkpointData: job.checkpoint,
      running: attempt)
    let tasks = handler.blocks ? executor.tasks : nil
    attempt.start(on: tasks) { [threads, ended, wakeups, random = options.random] in
      // Keeps the lock, so that no runner takes the job over while the handler runs, even if this
      // one has stopped waiting for it.
      defer { withExtendedLifetime(lease) {} }
      var result: Result<Data?, any Error>
      do {
        result = .success(try await handler.run(context, threads))
      } catch {
        result = .failure(error)
      }
      let outcome = attempt.outcome(of: result, backoff: handler.backoff, random: random)
      ended.withLock { $0.append(Ended(job: attempt, outcome: outcome)) }
      wakeups.wake()
    }
  }

  private func remove(_ attempt: Ended, _ result: FinishResult?) {
    let job = attempt.job
    attempts[job.claim.job] = nil
    let state: JobState? =
      switch result {
      case .finished(let state): state
      case .lostClaim: nil
      // The handler has completed the job.
      case nil: .succeeded
      }
    options.onEnd(
      EndedAttempt(
        job: job.claim.job, kind: job.kind, queue: job.queue, attempt: job.attempt, state: state,
        error: attempt.outcome?.error, waited: job.waited, ran: clock.now - job.began))
  }
}
