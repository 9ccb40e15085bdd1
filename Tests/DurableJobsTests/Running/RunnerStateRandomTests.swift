import TestSupport
import Testing

@testable import DurableJobs

/// Random sequences of events, against a model of the store and of the handlers.
@Suite struct RunnerStateRandomTests {
  @Test(arguments: 1...60 as ClosedRange<UInt64>)
  func everySequenceKeepsTheLimitsAndTerminates(seed: UInt64) throws {
    var world = World(seed: seed)
    for _ in 0..<300 where !world.hasLeft { try world.step() }
    try world.stopAndFinish()
    #expect(world.hasLeft, "seed \(seed)")
  }
}

/// The simulated environment of a runner: waiting jobs, handlers that end or hang, and a store that
/// fails at times.
private struct World {
  private struct Running {
    let queue: QueueName
    let deadline: ContinuousClock.Instant?
    var isCancelled = false
    var hasEnded = false
  }

  private static let queues: [QueueName] = ["one", "two"]
  private static let grace = Duration.seconds(10)

  private let seed: UInt64
  private var random: SeededRandom
  private var state: RunnerState
  private let start = ContinuousClock.now
  private var now: ContinuousClock.Instant
  private var concurrency = 4
  private var limits: [QueueName: Int] = ["one": 2]
  private var nextJob: Int64 = 1
  private var waiting = 0
  private var running: [JobID: Running] = [:]
  /// In the order in which they ended.
  private var ended: [JobID] = []
  /// The number that the state knew at the last event.
  private var endedAtEvent = 0
  private var isOfferTaken = false
  private var offer: ClaimTerms?
  private var condition = RunnerCondition.working
  private var stopDeadline: ContinuousClock.Instant?
  private var hasRecordedStop = false
  private var runnersCheckedAt: ContinuousClock.Instant?
  private var wakeAt: ContinuousClock.Instant?
  private var failuresLeft = 0
  private(set) var hasLeft = false

  init(seed: UInt64) {
    self.seed = seed
    random = SeededRandom(seed: seed)
    now = start
    state = RunnerState(
      kinds: ["test"], concurrency: concurrency, queueLimits: limits, cancelGrace: Self.grace)
    for action in state.handle(.registered(epoch: 1), at: moment) { check(action) }
  }

  private var moment: RunnerState.Moment { RunnerState.Moment(now: now, ended: ended) }

  // MARK: What happens

  mutating func step() throws {
    let wait = Duration.milliseconds([0, 1, 50, 700, 4_000].randomElement(using: &random) ?? 0)
    if wait > .zero, let wakeAt, wakeAt <= now + wait {
      // The alarm fires in time.
      now = max(now, wakeAt)
      return try turn()
    }
    now += wait
    switch Int.random(in: 0..<12, using: &random) {
    case 0...2: waiting += Int.random(in: 1...5, using: &random)
    case 3...5: endSome()
    case 6: report(.progressReported)
    case 7: failuresLeft = Int.random(in: 0...2, using: &random)
    case 8: limitAgain()
    case 9: takeOffer()
    case 10 where Int.random(in: 0..<40, using: &random) == 0: stop()
    default: break
    }
    try turn()
  }

  mutating func stopAndFinish() throws {
    if stopDeadline == nil { stop() }
    failuresLeft = 0
    isOfferTaken = false
    var wakes = 0
    while !hasLeft {
      try turn()
      if hasLeft { return }
      wakes += 1
      try #require(wakes < 1_000, "the runner does not come to an end: seed \(seed)")
      // Only the alarm wakes the runner: it does not wait for handlers that do not end.
      now = try #require(wakeAt, "the runner rests for ever: seed \(seed)")
    }
  }

  private mutating func endSome() {
    for id in running.keys.sorted() where Bool.random(using: &random) { end(id) }
  }

  private mutating func end(_ id: JobID) {
    guard running[id]?.hasEnded == false else { return }
    running[id]?.hasEnded = true
    ended.append(id)
  }

  private mutating func limitAgain() {
    concurrency = Int.random(in: 0...6, using: &random)
    limits = Bool.random(using: &random) ? ["one": Int.random(in: 0...3, using: &random)] : [:]
    report(.limitsChanged(concurrency: concurrency, queues: limits))
  }

  private mutating func stop() {
    let bound = Duration.seconds(Int.random(in: 0...5, using: &random))
    stopDeadline = min(stopDeadline ?? now + bound, now + bound)
    offer = nil
    report(.stopRequested(within: bound))
  }

  /// A commit takes the offer; it publishes before the next turn or later.
  private mutating func takeOffer() {
    if offer != nil { isOfferTaken = true }
  }

  private mutating func report(_ event: RunnerState.Event) {
    for action in state.handle(event, at: moment) {
      #expect(action == .wake, "seed \(seed)")
    }
  }

  // MARK: One turn, as the runner performs it

  private mutating func turn() throws {
    var event: RunnerState.Event? = woke()
    var steps = 0
    while let next = event {
      steps += 1
      try #require(steps < 200, "a turn does not end: seed \(seed)")
      let actions = state.handle(next, at: moment)
      endedAtEvent = ended.count
      for action in actions.dropLast() { check(action) }
      event = perform(try #require(actions.last, "a turn stops: seed \(seed)"))
      // Time passes while a step is performed, and attempts end.
      now += .microseconds(Int.random(in: 0...900, using: &random))
      if Int.random(in: 0..<8, using: &random) == 0 { endSome() }
    }
  }

  private mutating func woke() -> RunnerState.Event {
    var claimed: [JobID: RunnerState.Attempt] = [:]
    if isOfferTaken {
      guard Bool.random(using: &random) || stopDeadline != nil else {
        return .woke(claimed: [:], isOfferTaken: true)
      }
      isOfferTaken = false
      if let offer { claimed = claim(offer) }
    }
    offer = nil
    return .woke(claimed: claimed, isOfferTaken: false)
  }

  /// An action that is no step.
  private mutating func check(_ action: RunnerState.Action) {
    switch action {
    case .cancel(let id, _):
      #expect(running[id]?.isCancelled == false, "cancelled twice or not running: seed \(seed)")
      running[id]?.isCancelled = true
      if Bool.random(using: &random) { end(id) }
    case .report(let new):
      #expect(new != condition, "seed \(seed)")
      condition = new
    case .wake: break
    case .recordStop, .checkRunners, .survey, .exchange, .beginTurn, .rest, .leave:
      Issue.record("a step is not the last action: seed \(seed)")
    }
  }

  private mutating func perform(_ step: RunnerState.Action) -> RunnerState.Event? {
    let mayFail: Bool =
      switch step {
      case .recordStop, .checkRunners, .survey, .exchange: true
      case .cancel, .report, .wake, .beginTurn, .rest, .leave: false
      }
    if mayFail, failuresLeft > 0 {
      failuresLeft -= 1
      return .failed("seed \(seed)")
    }
    switch step {
    case .recordStop:
      #expect(stopDeadline != nil && !hasRecordedStop, "seed \(seed)")
      hasRecordedStop = true
      return .stopRecorded
    case .checkRunners:
      if let last = runnersCheckedAt {
        #expect(now - last >= Limits.runnersInterval, "checked too often: seed \(seed)")
      }
      runnersCheckedAt = now
      return .runnersChecked(
        next: Bool.random(using: &random)
          ? .seconds(Int.random(in: 1...15, using: &random)) : nil)
    case .survey(let ids, let terms):
      if let terms { checkTerms(terms, ending: []) }
      let cancelled = ids.filter { _ in Int.random(in: 0..<10, using: &random) == 0 }
      return .surveyed(cancelled: cancelled, hasWork: terms != nil && waiting > 0)
    case .exchange(let exchange): return self.exchange(exchange)
    case .beginTurn: return woke()
    case .rest(let rest):
      self.rest(rest)
      return nil
    case .leave:
      leave()
      return nil
    case .cancel, .report, .wake:
      check(step)
      Issue.record("a turn ends without a step: seed \(seed)")
      return nil
    }
  }

  private mutating func exchange(_ exchange: RunnerState.Exchange) -> RunnerState.Event {
    #expect(exchange.endedCount <= ended.count, "seed \(seed)")
    let written = ended
    var claimed: [JobID: RunnerState.Attempt] = [:]
    if var terms = exchange.terms {
      checkTerms(terms, ending: written.prefix(exchange.endedCount))
      for late in written.dropFirst(exchange.endedCount) {
        terms.makeRoom(in: running[late]?.queue ?? "")
      }
      for id in written { running[id] = nil }
      claimed = claim(terms)
    }
    for id in written { running[id] = nil }
    ended = []
    return .exchanged(ended: written, claimed: claimed, heldBack: 0)
  }

  /// Claims what the terms have room for.
  private mutating func claim(_ terms: ClaimTerms) -> [JobID: RunnerState.Attempt] {
    var terms = terms
    var claimed: [JobID: RunnerState.Attempt] = [:]
    while waiting > 0, terms.count > 0 {
      let open = Self.queues.filter { terms.hasRoom(in: $0) }
      guard let queue = open.randomElement(using: &random) else { break }
      waiting -= 1
      terms.takeRoom(in: queue)
      let deadline =
        Bool.random(using: &random)
        ? now + .seconds(Int.random(in: 1...20, using: &random)) : nil
      let id = JobID(rawValue: nextJob)
      nextJob += 1
      running[id] = Running(queue: queue, deadline: deadline)
      claimed[id] = RunnerState.Attempt(queue: queue, deadline: deadline)
    }
    return claimed
  }

  // MARK: What must hold

  /// Requires that the running jobs stay within the limits even if every slot is used.
  private func checkTerms(_ terms: ClaimTerms, ending: ArraySlice<JobID>) {
    #expect(stopDeadline == nil, "a runner that stops claims jobs: seed \(seed)")
    #expect(!isOfferTaken, "two claims at once: seed \(seed)")
    let busy = running.filter { !ending.contains($0.key) }
    #expect(terms.count + busy.count == concurrency, "seed \(seed)")
    for (queue, limit) in limits {
      let count = busy.values.count { $0.queue == queue }
      #expect(terms.queueRoom[queue] == limit - count, "seed \(seed)")
    }
  }

  private mutating func rest(_ rest: RunnerState.Rest) {
    if let offer = rest.offer {
      checkTerms(offer, ending: ended.prefix(endedAtEvent))
      #expect(offer.count > 0, "seed \(seed)")
      self.offer = offer
    }
    wakeAt = rest.wakeAfter.map { now + $0 }
    if let after = rest.wakeAfter { #expect(after >= .zero, "seed \(seed)") }
    // The runner sleeps through no deadline.
    var deadlines = running.values.compactMap { $0.isCancelled ? nil : $0.deadline }
    // The grace is counted from the turn in which the attempts were cancelled.
    if let stopDeadline, !running.isEmpty {
      deadlines.append(stopDeadline + Self.grace + .milliseconds(100))
    }
    if case .blocked = condition { deadlines.append(now + Limits.retryInterval) }
    for deadline in deadlines where deadline > now {
      #expect(wakeAt.map { $0 <= deadline } ?? false, "a deadline is missed: seed \(seed)")
    }
  }

  private mutating func leave() {
    hasLeft = true
    guard let stopDeadline else {
      Issue.record("a runner leaves that was not stopped: seed \(seed)")
      return
    }
    let isOver = now >= stopDeadline + Self.grace
    #expect(isOver || (running.isEmpty && !isOfferTaken), "seed \(seed)")
    #expect(hasRecordedStop || running.isEmpty || failuresLeft > 0 || isOver, "seed \(seed)")
  }
}
