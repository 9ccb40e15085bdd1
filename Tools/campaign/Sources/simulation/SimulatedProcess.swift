import Foundation
import Logging
import StoreFigures
import StoreJobs
import Synchronization

@testable import DurableJobs
@testable import EntityStore
@testable import FeedSync
@testable import SystemSupport
@testable import WorkerService

/// The isolation of everything in a simulation but its strands.
@globalActor actor Stage {
  static let shared = Stage()
}

/// A process with a runner, and with the chores of a worker if it is one: performs what `JobRunner`
/// and `Worker` perform, one step at a time.
@Stage final class SimulatedProcess {
  enum Chore: Int, CaseIterable {
    case turn, plan, prune, figures
  }

  /// An attempt whose handler runs as a strand.
  private struct Attempt {
    let job: RunningJob
    let strand: Strand
    let result: AttemptResult
    /// The end of the strand's sleep; nil after its end.
    var wakeAt: Int?
  }

  struct Died: Error {}

  let epoch: Int64
  let isWorker: Bool
  let world: World
  private let machine: Machine
  var store: Store { machine.store }
  private var lease: RunnerLease?
  private let handlers: JobHandlers
  private let threads = BoundedThreads("simulation", threadsMax: 1)
  private var state: RunnerState
  private var attempts: [JobID: Attempt] = [:]
  private var ended: [(job: RunningJob, outcome: Outcome?)] = []
  var correctedAt = Date.distantFuture
  private var isStopping = false
  /// True once it has left in order.
  private(set) var hasLeft = false
  /// True to die between the next commit of the runner and what follows it.
  var diesAfterCommit = false
  private var times: [Chore: Int] = [:]

  private let figures: FigureRecorder
  private let schedule: FeedSchedule
  private var begin: Date
  private var turns = HostTurns()
  private var plannedAt = 0

  /// - Throws: The errors of `RunnerLease.take`.
  init(_ world: World, on machine: Machine, isWorker: Bool) async throws {
    self.world = world
    self.machine = machine
    self.isWorker = isWorker
    let figures = FigureRecorder(now: { [clock = world.clock] in clock.now })
    self.figures = figures
    handlers = world.handlers(isWorker: isWorker, on: machine, figures)
    var settings = WorkerSettings()
    settings.keepFinished = .seconds(6 * 3_600)
    schedule = FeedSchedule(
      store: machine.store,
      settings: try LiveSettings { [settings] in
        EffectiveSettings(settings: settings, items: [], file: nil, warnings: [])
      }, logger: Logger(label: "simulation") { _ in SwiftLogNoOpLogHandler() }, figures: figures)
    begin = world.clock.now
    state = RunnerState(
      kinds: handlers.kinds, concurrency: isWorker ? 6 : 2, queueLimits: [:],
      cancelGrace: .seconds(10))
    let lease = try await RunnerLease.take(
      in: machine.store, command: "simulation", kinds: handlers.kinds)
    self.lease = lease
    epoch = lease.epoch
    world.jobs.withLock { $0.register(lease.epoch) }
    _ = react(to: .registered(epoch: lease.epoch))
    times[.turn] = world.clock.elapsed
    guard isWorker else { return }
    for chore in [Chore.plan, .prune, .figures] { times[chore] = world.clock.elapsed }
  }

  // MARK: Time

  /// The time at which it has something to do.
  var wakeAt: Int {
    min(times.values.min() ?? .max, attempts.values.compactMap(\.wakeAt).min() ?? .max)
  }

  /// Wakes the runner, and the schedule of the feeds: a commit was noticed, or the clock was set.
  func wake(after milliseconds: Int) {
    let time = world.clock.elapsed + milliseconds
    times[.turn] = min(times[.turn] ?? .max, time)
    if isWorker { times[.plan] = min(times[.plan] ?? .max, max(time, plannedAt + 1_000)) }
  }

  /// Performs one thing that is due.
  ///
  /// - Throws: `Died`, `Violation`, and errors of the store that do not pass.
  func step() async throws {
    // One that is cut off reads on. Notifications are late at times.
    if machine.link?.isCut == false, !world.chance.one(in: 3) { try store.catchUp() }
    let now = world.clock.elapsed
    if let id = attempts.filter({ $0.value.wakeAt.map { $0 <= now } ?? false }).keys.min() {
      guard let strand = attempts[id]?.strand else { return }
      return note(await strand.proceed(), of: id)
    }
    guard let chore = Chore.allCases.first(where: { times[$0].map { $0 <= now } ?? false }) else {
      return
    }
    times[chore] = nil
    switch chore {
    case .turn: try await turn()
    case .plan: try await waitingOutFullDisk(.plan) { try await self.plan() }
    case .prune: try await waitingOutFullDisk(.prune) { try await self.prune() }
    case .figures:
      try await waitingOutFullDisk(.figures) {
        _ = try await self.figures.flush(to: self.store)
      }
      times[.figures] = now + 60_000
    }
  }

  // MARK: End

  /// Ends in order: the runner drains.
  func stop() {
    isStopping = true
    _ = react(to: .stopRequested(within: .seconds(20)))
    times = [.turn: world.clock.elapsed]
  }

  /// Ends as a process that is killed: nothing is written any more, and the kernel frees its locks.
  func die() async throws {
    try FullDisk.set(true)
    machine.link?.beginDeath()
    for id in attempts.keys.sorted() {
      guard let attempt = attempts[id], attempt.wakeAt != nil else { continue }
      attempt.strand.kill()
      while await attempt.strand.proceed() != .ended {}
    }
    try FullDisk.set(world.isDiskFull)
    lease = nil
    machine.link?.endDeath()
    hasLeft = true
  }

  private func leave() async throws {
    do {
      _ = try await exchange(
        RunnerState.Exchange(
          terms: nil, endedCount: ended.count, storesProgress: false, hasWork: false))
      if attempts.isEmpty {
        let epoch = epoch
        try await store.write(author: "jobs") { try JobTable($0).removeRunner(epoch) }
        try world.jobs.withLock { try $0.leave(epoch) }
      }
    } catch let error as StoreError where error.passes {
      // The next runner finds that it is dead.
    }
    try await die()
  }

  // MARK: The runner

  private func turn() async throws {
    var step = react(to: .woke(claimed: [:], isOfferTaken: false))
    while let action = step {
      if action == .leave { return try await leave() }
      do {
        step = try await perform(action).flatMap(react)
      } catch let error as StoreError where error.passes {
        step = react(to: .failed("\(error.code)"))
      } catch let error as JobError where error.code == .lostRunner {
        guard wasTakenForDead else { throw error }
        throw Died()
      }
    }
  }

  /// True if another machine could take over its jobs, because it was cut off.
  private var wasTakenForDead: Bool { !world.jobs.withLock(\.runners).contains(epoch) }

  private func react(to event: RunnerState.Event) -> RunnerState.Action? {
    let moment = RunnerState.Moment(
      now: world.clock.instant, ended: ended.map(\.job.claim.job))
    for action in state.handle(event, at: moment) {
      switch action {
      case .cancel(let id, let reason): cancel(id, reason)
      case .report: break
      case .wake: times[.turn] = world.clock.elapsed
      case .recordStop, .checkRunners, .survey, .exchange, .beginTurn, .rest, .leave: return action
      }
    }
    return nil
  }

  private func cancel(_ id: JobID, _ reason: RunningJob.Reason) {
    guard let attempt = attempts[id] else { return }
    world.trace.add("cancel job \(id) \(reason)")
    attempt.job.cancel(reason)
    attempt.strand.cancel()
    if attempt.wakeAt != nil { attempts[id]?.wakeAt = world.clock.elapsed }
  }

  private func perform(_ step: RunnerState.Action) async throws -> RunnerState.Event? {
    let (store, epoch) = (store, epoch)
    switch step {
    case .recordStop:
      try await store.write(author: "jobs") { try JobTable($0).recordStop(epoch) }
      return .stopRecorded
    case .checkRunners:
      let next = try await rescueDead()
      try await correctTimes()
      return .runnersChecked(next: next)
    case .survey(let running, let terms): return try survey(running, terms)
    case .exchange(let plan): return try await exchange(plan)
    case .beginTurn: return .woke(claimed: [:], isOfferTaken: false)
    case .rest(let rest):
      try sleep(rest)
      return nil
    case .cancel, .report, .wake, .leave: return nil
    }
  }

  private func exchange(_ plan: RunnerState.Exchange) async throws -> RunnerState.Event {
    let progress =
      plan.storesProgress ? attempts.values.compactMap { $0.job.takeClaimedProgress() } : []
    guard plan.hasWork || plan.endedCount > 0 || !progress.isEmpty else {
      return .exchanged(ended: [], claimed: [:], heldBack: 0)
    }
    let written = ended
    let ends = written.map { ($0.job.claim, $0.outcome) }
    let (epoch, terms) = (epoch, plan.terms)
    let exchange = try await store.write(author: "jobs") { transaction in
      if terms != nil { try JobTable(transaction).requireRunner(epoch) }
      return try JobExchange.run(ends, progress, terms, in: transaction)
    }
    ended = []
    try record(written, exchange)
    if diesAfterCommit { throw Died() }
    for attempt in written { attempts[attempt.job.claim.job] = nil }
    return .exchanged(
      ended: written.map(\.job.claim.job), claimed: await start(exchange.claimed),
      heldBack: exchange.heldBack)
  }

  /// Hands what was committed to the model.
  private func record(
    _ written: [(job: RunningJob, outcome: Outcome?)], _ exchange: JobExchange
  ) throws {
    let now = world.now
    for ((job, outcome), result) in zip(written, exchange.results) {
      let id = job.claim.job
      world.trace.add("end job \(id) \(outcome.map { "\($0.end)" } ?? "completed")")
      if result == .lostClaim {
        if wasTakenForDead { continue }
        throw Violation("the runner that runs job \(id) lost its claim")
      }
      guard let end = outcome?.end else { continue }
      try world.jobs.withLock { try $0.finish(id.rawValue, epoch: epoch, end, at: now) }
    }
    try world.adopt()
    for job in exchange.claimed {
      world.trace.add("start job \(job.id) under runner \(epoch)")
      try world.jobs.withLock { try $0.start(job.id.rawValue, epoch: epoch, at: now) }
    }
  }

  private func sleep(_ rest: RunnerState.Rest) throws {
    let due =
      rest.offer == nil ? nil : try store.read { try JobRows(reading: $0).nextTime() }
    var times: [Int] = []
    let now = world.clock.elapsed
    if let due { times.append(max(now, world.clock.elapsed(at: due))) }
    if let wait = rest.wakeAfter {
      // An idle runner looks at the others each second, in which nothing happens but what wakes it.
      let isIdle = attempts.isEmpty && state.condition == .working && !isStopping
      times.append(now + max(isIdle ? 60_000 : 1, Int(wait / .milliseconds(1))))
    }
    self.times[.turn] = times.min()
  }

  // MARK: Attempts

  private func start(_ jobs: [JobRecord]) async -> [JobID: RunnerState.Attempt] {
    var started: [JobID: RunnerState.Attempt] = [:]
    for job in jobs {
      guard let claim = job.claim, let handler = handlers.byKind[job.kind] else { continue }
      let result = AttemptResult()
      let running = RunningJob(
        job, claim: claim, began: world.clock.instant,
        waited: .seconds(max(0, world.clock.now.timeIntervalSince(job.runAt)))
      ) { result.hasProgress.withLock { $0 = true } }
      started[job.id] = RunnerState.Attempt(
        queue: job.queue, isSuspect: job.isSuspect, deadline: running.deadline)
      let strand = Strand(clock: world.clock)
      attempts[job.id] = Attempt(job: running, strand: strand, result: result)
      let context = JobContext(
        id: job.id, kind: job.kind, queue: job.queue, attempt: running.attempt, store: store,
        runnerLogger: schedule.logger, payload: job.payload, checkpointData: job.checkpoint,
        running: running)
      note(
        await strand.begin { [world, threads] in
          running.start(on: nil) {
            await Strand.$current.withValue(strand) {
              await result.run(handler, context, threads, world.chance)
            }
            strand.end()
          }
        }, of: job.id)
    }
    return started
  }

  private func note(_ pause: Strand.Pause, of id: JobID) {
    guard let attempt = attempts[id] else { return }
    switch pause {
    case .sleeping(let until): attempts[id]?.wakeAt = until
    case .ended:
      attempts[id]?.wakeAt = nil
      ended.append((attempt.job, attempt.result.outcome.withLock { $0 }))
      times[.turn] = world.clock.elapsed
    }
    let hasProgress = attempt.result.hasProgress.withLock { value in
      defer { value = false }
      return value
    }
    if hasProgress { _ = react(to: .progressReported) }
  }

  // MARK: The chores of a worker

  private func plan() async throws {
    plannedAt = world.clock.elapsed
    begin = min(begin, world.clock.now)
    var turns = turns
    // After a failure the schedule starts again, as that of a worker does.
    let former = begin
    (self.turns, begin) = (HostTurns(), world.clock.now)
    let next = try await schedule.enqueueDue(begin: former, &turns)
    (self.turns, begin) = (turns, former)
    let planned = turns.free.count
    if planned > Scenario.hosts.count { throw Violation("\(planned) hosts have turns") }
    try world.adopt()
    guard let next else { return }
    times[.plan] = max(plannedAt + 1_000, world.clock.elapsed(at: next))
  }

  private func prune() async throws {
    let now = world.now
    let count = try await JobQueue(store).prune()
    let expected = world.jobs.withLock { $0.prune(at: now) }
    guard count == expected else { throw Violation("\(count) jobs were removed, not \(expected)") }
    times[.prune] = world.clock.elapsed + 600_000
  }

  private func waitingOutFullDisk(_ chore: Chore, _ body: () async throws -> Void) async throws {
    do {
      try await body()
    } catch let error as StoreError where error.passes {
      times[chore] = world.clock.elapsed + 5_000
    }
  }
}
