/// Decides what a runner does: takes events and returns actions, without I/O and without a clock.
///
/// `JobRunner` performs the actions and answers with the events that come of them. One turn:
///
///     woke ─→ recordStop ─→ checkRunners ─→ survey ─→ exchange ─→ rest
///      ↑                                                 │
///      └────────────────── beginTurn ←───────────────────┘   while there is work
///
/// Steps that are not due are left out. An event returns at most one step, as its last action, so
/// that the runner performs one at a time; `failed` ends the turn at any of them.
struct RunnerState {
  typealias Instant = ContinuousClock.Instant

  /// The circumstances of an event.
  struct Moment {
    let now: Instant
    /// The attempts that have ended and are not written yet. They make room in the exchange that
    /// writes them.
    var ended: [JobID] = []
  }

  /// An attempt that has begun and is not written as ended.
  struct Attempt {
    let queue: QueueName
    let isSuspect: Bool
    let deadline: Instant?
    fileprivate(set) var isCancelled = false
    /// The time of a cancellation from which its grace is counted. `nil` for the stop of the
    /// runner, which has a deadline of its own.
    fileprivate(set) var cancelledAt: Instant?

    init(queue: QueueName, isSuspect: Bool = false, deadline: Instant? = nil) {
      self.queue = queue
      self.isSuspect = isSuspect
      self.deadline = deadline
    }
  }

  enum Event {
    /// The runner has its lock and its record in the store.
    case registered(epoch: Int64)
    /// A turn begins.
    ///
    /// - `claimed`: Attempts that have begun because a commit of this process claimed their jobs.
    /// - `isOfferTaken`: True while such a commit is under way.
    case woke(claimed: [JobID: Attempt], isOfferTaken: Bool)
    case stopRecorded
    /// `next`: The time after which the other runners are to be checked again; `nil` if there are
    /// none.
    case runnersChecked(next: Duration?)
    case surveyed(cancelled: [JobID], hasWork: Bool)
    case exchanged(ended: [JobID], claimed: [JobID: Attempt], heldBack: Int)
    /// A step failed with an error that passes. Its description, in one line.
    case failed(String)
    /// An attempt has progress to be stored, for the first time since its progress was last stored.
    case progressReported
    case stopRequested(within: Duration)
    case limitsChanged(concurrency: Int, queues: [QueueName: Int])
  }

  enum Action: Equatable {
    case cancel(JobID, RunningJob.Reason)
    case report(RunnerCondition)
    case wake

    // Steps: each of them but the last two is answered by its event or by `failed`.

    /// Stores that the runner stops, so that its death no longer counts against its jobs.
    case recordStop
    /// Takes over the jobs of runners that have died, and corrects times if the clock was set back.
    case checkRunners
    /// Reads which of the attempts were cancelled, and whether there is work under the terms.
    case survey(cancellationsOf: [JobID], terms: ClaimTerms?)
    case exchange(Exchange)
    /// Asks for `woke` at once.
    case beginTurn
    /// Sleeps until the runner is woken; answered by `failed` if the time of the next job cannot be
    /// read.
    case rest(Rest)
    /// The runner has come to its end.
    case leave
  }

  /// One transaction that writes what has ended and claims what comes next.
  struct Exchange: Equatable {
    /// `nil` if no job may be claimed.
    var terms: ClaimTerms?
    /// Attempts whose room is part of the terms: the first of those that have ended.
    var endedCount: Int
    var storesProgress: Bool
    /// True if the store has work under the terms. Otherwise only ended attempts and progress are a
    /// reason to write.
    var hasWork: Bool
  }

  struct Rest: Equatable {
    /// `nil` for as long as nothing happens.
    var wakeAfter: Duration?
    /// The terms under which a commit of this process may claim jobs; also the sign to wake when
    /// the next job is due. `nil` if there is no room.
    var offer: ClaimTerms?
  }

  private enum Phase {
    case working
    /// No claims; attempts may come to their end until then.
    case draining(until: Instant)
    /// All attempts have been cancelled, and are waited for until then.
    case cancelling(until: Instant)
  }

  private let kinds: Set<JobKind>
  private let cancelGrace: Duration
  private var concurrency: Int
  private var queueLimits: [QueueName: Int]

  private var epoch: Int64?
  private var phase = Phase.working
  private(set) var condition = RunnerCondition.working
  private(set) var attempts: [JobID: Attempt] = [:]
  private var isOfferTaken = false
  private var hasRecordedStop = false
  /// Nothing is written before this time.
  private var retryAt: Instant?
  private var progressDueAt: Instant?
  private var cancellations = Check(interval: Limits.cancellationsInterval)
  private var runners = Check(interval: Limits.runnersInterval)
  /// The time between two checks of the other runners; `nil` if there are none.
  private var nextCheckAfter: Duration?

  init(
    kinds: Set<JobKind>, concurrency: Int, queueLimits: [QueueName: Int], cancelGrace: Duration
  ) {
    self.kinds = kinds
    self.concurrency = concurrency
    self.queueLimits = queueLimits
    self.cancelGrace = cancelGrace
  }

  var isStopping: Bool { if case .working = phase { false } else { true } }

  // MARK: Events

  mutating func handle(_ event: Event, at moment: Moment) -> [Action] {
    switch event {
    case .registered(let epoch):
      self.epoch = epoch
      return change(to: .working)
    case .woke(let claimed, let isOfferTaken):
      attempts.merge(claimed) { $1 }
      self.isOfferTaken = isOfferTaken
      return beginTurn(at: moment)
    case .stopRecorded:
      hasRecordedStop = true
      return checkRunners(at: moment)
    case .runnersChecked(let next):
      nextCheckAfter = next
      return survey(at: moment)
    case .surveyed(let cancelled, let hasWork):
      return cancelled.flatMap { cancel($0, .cancelled, at: moment.now) }
        + exchange(at: moment, hasWork: hasWork)
    case .exchanged(let ended, let claimed, let heldBack):
      for id in ended { attempts[id] = nil }
      attempts.merge(claimed) { $1 }
      return passTurn(at: moment, hadWork: !ended.isEmpty || !claimed.isEmpty || heldBack > 0)
    case .failed(let reason): return fail(reason, at: moment)
    case .progressReported:
      guard progressDueAt == nil else { return [] }
      progressDueAt = moment.now + Limits.progressInterval
      return [.wake]
    case .stopRequested(let bound): return stop(until: moment.now + bound)
    case .limitsChanged(let concurrency, let queues):
      self.concurrency = concurrency
      queueLimits = queues
      return [.wake]
    }
  }

  private mutating func stop(until requested: Instant) -> [Action] {
    switch phase {
    case .working: phase = .draining(until: requested)
    // The first request may have been more urgent.
    case .draining(let earlier): phase = .draining(until: min(requested, earlier))
    case .cancelling: return []
    }
    return [.wake]
  }

  private mutating func fail(_ reason: String, at moment: Moment) -> [Action] {
    let report = change(to: .blocked(reason))
    guard epoch != nil else { return report }
    retryAt = moment.now + Limits.retryInterval
    return report + rest(at: moment)
  }

  private mutating func change(to new: RunnerCondition) -> [Action] {
    guard new != condition else { return [] }
    condition = new
    return [.report(new)]
  }

  // MARK: Steps of a turn

  private mutating func beginTurn(at moment: Moment) -> [Action] {
    let actions = advancePhase(at: moment.now) + expireAttempts(at: moment.now)
    if isDone(at: moment.now) { return actions + [.leave] }
    if let retryAt, moment.now < retryAt { return actions + rest(at: moment) }
    if isStopping, !hasRecordedStop { return actions + [.recordStop] }
    return actions + checkRunners(at: moment)
  }

  private mutating func checkRunners(at moment: Moment) -> [Action] {
    runners.begin(at: moment.now) ? [.checkRunners] : survey(at: moment)
  }

  private mutating func survey(at moment: Moment) -> [Action] {
    let running = cancellations.begin(at: moment.now) ? Array(attempts.keys) : []
    // What has ended is written in any case, and the exchange claims with it.
    let terms = moment.ended.isEmpty ? claimTerms(at: moment) : nil
    let sought = terms.flatMap { $0.count > 0 ? $0 : nil }
    guard sought != nil || !running.isEmpty else { return exchange(at: moment, hasWork: false) }
    return [.survey(cancellationsOf: running, terms: sought)]
  }

  private mutating func exchange(at moment: Moment, hasWork: Bool) -> [Action] {
    let storesProgress = progressDueAt.map { $0 <= moment.now } ?? false
    if storesProgress { progressDueAt = nil }
    guard hasWork || storesProgress || !moment.ended.isEmpty else {
      return passTurn(at: moment, hadWork: false)
    }
    return [
      .exchange(
        Exchange(
          terms: claimTerms(at: moment), endedCount: moment.ended.count,
          storesProgress: storesProgress, hasWork: hasWork))
    ]
  }

  /// Ends a turn that has not failed.
  private mutating func passTurn(at moment: Moment, hadWork: Bool) -> [Action] {
    retryAt = nil
    // Also if another runner has done what this one could not.
    var actions: [Action] = []
    if case .blocked = condition { actions = change(to: .working) }
    return actions + (hadWork ? [.beginTurn] : rest(at: moment))
  }

  private mutating func rest(at moment: Moment) -> [Action] {
    // Time has passed since the turn began.
    let actions = advancePhase(at: moment.now) + expireAttempts(at: moment.now)
    let terms = retryAt == nil ? claimTerms(at: moment) : nil
    let rest = Rest(
      wakeAfter: nextTime(from: moment.now).map { max(.zero, moment.now.duration(to: $0)) },
      // Without room nothing can be done about a job that becomes due, and the end of an attempt
      // wakes the runner.
      offer: terms.flatMap { $0.count > 0 ? $0 : nil })
    return actions + [.rest(rest)]
  }

  /// The time at which there is something to do though nothing happens.
  private func nextTime(from now: Instant) -> Instant? {
    if isDone(at: now) { return now }
    var times: [Instant] = []
    for attempt in attempts.values {
      if !attempt.isCancelled, let deadline = attempt.deadline { times.append(deadline) }
      if let cancelledAt = attempt.cancelledAt { times.append(cancelledAt + cancelGrace) }
    }
    switch phase {
    case .working: break
    case .draining(let until), .cancelling(let until): times.append(until)
    }
    // What is left of these in the past has been acted on, and waits for an attempt to end.
    times.removeAll { $0 <= now }
    if let retryAt {
      times.append(retryAt)
    } else {
      if let progressDueAt { times.append(progressDueAt) }
      if cancellations.isPending, !attempts.isEmpty { times.append(now + cancellations.interval) }
      let checkAfter = runners.isPending ? runners.interval : nextCheckAfter
      if let checkAfter { times.append(now + checkAfter) }
    }
    return times.min()
  }

  /// The terms of a claim; `nil` if no job may be claimed. The room is negative where more jobs run
  /// than the limits allow.
  private func claimTerms(at moment: Moment) -> ClaimTerms? {
    guard let epoch, !isStopping, !isOfferTaken else { return nil }
    let ended = Set(moment.ended)
    var terms = ClaimTerms(epoch: epoch, count: concurrency, kinds: kinds, queueRoom: queueLimits)
    for (id, attempt) in attempts where !ended.contains(id) {
      terms.takeRoom(in: attempt.queue)
      if attempt.isSuspect { terms.admitsSuspect = false }
    }
    return terms
  }

  // MARK: Attempts

  /// - Returns: No action if the attempt has ended or was cancelled before.
  private mutating func cancel(
    _ id: JobID, _ reason: RunningJob.Reason, at now: Instant
  ) -> [Action] {
    guard attempts[id]?.isCancelled == false else { return [] }
    attempts[id]?.isCancelled = true
    if reason != .stopping { attempts[id]?.cancelledAt = now }
    return [.cancel(id, reason)]
  }

  private mutating func expireAttempts(at now: Instant) -> [Action] {
    let expired = attempts.filter { $0.value.deadline.map { $0 <= now } ?? false }
    let actions = expired.keys.flatMap { cancel($0, .timedOut, at: now) }
    // Attempts that have ended may not have been written then, and are not stuck.
    if case .blocked = condition { return actions }
    let stuck = attempts.values.count { attempt in
      attempt.cancelledAt.map { $0 + cancelGrace <= now } ?? false
    }
    return actions + change(to: stuck > 0 ? .stuck(stuck) : .working)
  }

  // MARK: Stopping

  private mutating func advancePhase(at now: Instant) -> [Action] {
    switch phase {
    case .working: return []
    case .draining(let until):
      guard !attempts.isEmpty, now >= until else { return [] }
      phase = .cancelling(until: now + cancelGrace)
    // An attempt may begin only now: a commit had claimed its job.
    case .cancelling: break
    }
    return attempts.keys.flatMap { cancel($0, .stopping, at: now) }
  }

  private func isDone(at now: Instant) -> Bool {
    let hasEnded = attempts.isEmpty && !isOfferTaken
    return switch phase {
    case .working: false
    case .draining: hasEnded
    case .cancelling(let until): hasEnded || now >= until
    }
  }
}

/// A look at the store that is taken at most once in an interval.
private struct Check {
  let interval: Duration
  /// True if a turn came too soon after the last look, so that one is due later.
  private(set) var isPending = false
  private var last: ContinuousClock.Instant?

  init(interval: Duration) { self.interval = interval }

  /// - Returns: True if the look is to be taken now.
  mutating func begin(at now: ContinuousClock.Instant) -> Bool {
    isPending = last.map { now - $0 < interval } ?? false
    if !isPending { last = now }
    return !isPending
  }
}
