import TestSupport
import Testing

@testable import DurableJobs

/// The decisions of a runner, without a store and without a clock.
@Suite struct RunnerStateTests {
  @Test func anIdleRunnerSleepsUntilItIsWoken() {
    var runner = Runner()
    #expect(runner.wake() == [.checkRunners])
    #expect(runner.handle(.runnersChecked(next: nil)) == [.survey([], Runner.room(2))])
    let rest = runner.handle(.surveyed(cancelled: [], hasWork: false))
    #expect(rest == [.rest(after: nil, Runner.room(2))])
  }

  @Test func aRunnerSleepsUntilAnotherOneMayHaveDied() {
    var runner = Runner()
    _ = runner.wake()
    _ = runner.handle(.runnersChecked(next: .seconds(12)))
    let rest = runner.handle(.surveyed(cancelled: [], hasWork: false))
    #expect(rest == [.rest(after: .seconds(12), Runner.room(2))])
    // A wake before that may be the commit of a new runner, which is looked at a second later.
    _ = runner.wake()
    let pending = runner.handle(.surveyed(cancelled: [], hasWork: false))
    #expect(pending == [.rest(after: Limits.runnersInterval, Runner.room(2))])
  }

  @Test func claimsFillTheRoomThatRunningAttemptsLeave() {
    var runner = Runner(queueLimits: ["one": 1])
    runner.startTurn()
    #expect(
      runner.handle(.surveyed(cancelled: [], hasWork: true))
        == [.exchange(Runner.room(2, ["one": 1]), ended: 0, hasWork: true)])
    let suspect = RunnerState.Attempt(queue: "one", isSuspect: true)
    let claimed = RunnerState.Event.exchanged(ended: [], claimed: [id(1): suspect], heldBack: 0)
    #expect(runner.handle(claimed) == [.beginTurn])
    var room = Runner.room(1, ["one": 0])
    room.admitsSuspect = false
    #expect(runner.wake() == [.survey([], room)])
    // An ended attempt makes room in the transaction that writes it.
    #expect(
      runner.wake(ended: [id(1)]) == [
        .exchange(Runner.room(2, ["one": 1]), ended: 1, hasWork: false)
      ])
  }

  @Test func nothingIsClaimedWhileACommitClaims() {
    var runner = Runner()
    runner.startTurn()
    // Only the check of the other runners, which came too soon, is due by time.
    let rest = runner.wake(isOfferTaken: true)
    #expect(rest == [.rest(after: Limits.runnersInterval, nil)])
  }

  @Test func anAttemptIsCancelledAtItsDeadlineAndReportedAsStuckAfterTheGrace() {
    var runner = Runner()
    runner.startTurn()
    let attempt = RunnerState.Attempt(queue: "default", deadline: runner.now + .seconds(5))
    _ = runner.handle(.exchanged(ended: [], claimed: [id(7): attempt], heldBack: 0))
    #expect(runner.restAfterWake() == .milliseconds(100))
    runner.now += .seconds(5)
    #expect(runner.wake().first == .cancel(id(7), .timedOut))
    runner.now += .seconds(10)
    #expect(runner.wake().first == .report(.stuck(1)))
    _ = runner.handle(.exchanged(ended: [id(7)], claimed: [:], heldBack: 0))
    #expect(runner.wake().first == .report(.working))
  }

  @Test func afterAnErrorTheRunnerPausesAndRetries() {
    var runner = Runner()
    runner.startTurn()
    #expect(
      runner.handle(.failed("disk full")) == [
        .report(.blocked("disk full")), .rest(after: Limits.retryInterval, nil),
      ])
    runner.now += .seconds(1)
    #expect(runner.wake() == [.rest(after: .seconds(1), nil)])
    runner.now += .seconds(1)
    #expect(runner.wake() == [.checkRunners])
    _ = runner.handle(.runnersChecked(next: nil))
    #expect(
      runner.handle(.surveyed(cancelled: [], hasWork: false)) == [
        .report(.working), .rest(after: nil, Runner.room(2)),
      ])
  }

  @Test func aStopRecordsItselfDrainsAndThenCancels() {
    var runner = Runner()
    runner.startTurn()
    let attempt = RunnerState.Attempt(queue: "default")
    _ = runner.handle(
      .exchanged(ended: [], claimed: [id(1): attempt, id(2): attempt], heldBack: 0))
    #expect(runner.handle(.stopRequested(within: .seconds(3))) == [.wake])
    // A later request does not give more time.
    _ = runner.handle(.stopRequested(within: .seconds(60)))
    #expect(runner.wake() == [.recordStop])
    _ = runner.handle(.stopRecorded)
    #expect(runner.wake(ended: [id(1)]) == [.exchange(nil, ended: 1, hasWork: false)])
    _ = runner.handle(.exchanged(ended: [id(1)], claimed: [:], heldBack: 0))
    runner.now += .seconds(3)
    #expect(runner.wake().first == .cancel(id(2), .stopping))
    #expect(runner.restAfterWake() == Limits.runnersInterval)
    runner.now += .seconds(10)
    #expect(runner.wake() == [.leave])
  }

  @Test func progressIsStoredAtMostOnceInAnInterval() {
    var runner = Runner()
    runner.startTurn()
    #expect(runner.handle(.progressReported) == [.wake])
    #expect(runner.handle(.progressReported) == [])
    _ = runner.wake()
    let rest = runner.handle(.surveyed(cancelled: [], hasWork: false))
    #expect(rest == [.rest(after: Limits.progressInterval, Runner.room(2))])
    runner.now += Limits.progressInterval
    _ = runner.wake()
    guard
      case .exchange(let exchange)? = runner.state.handle(
        .surveyed(cancelled: [], hasWork: false), at: runner.moment()
      ).last
    else {
      Issue.record("progress is not stored")
      return
    }
    #expect(exchange.storesProgress && !exchange.hasWork)
  }
}

/// A state with a clock that the test sets, and actions that are easy to compare.
private struct Runner {
  static let epoch: Int64 = 3
  var now = ContinuousClock.now
  var state: RunnerState

  init(queueLimits: [QueueName: Int] = [:]) {
    state = RunnerState(
      kinds: ["test"], concurrency: 2, queueLimits: queueLimits, cancelGrace: .seconds(10))
    _ = state.handle(.registered(epoch: Self.epoch), at: RunnerState.Moment(now: now))
  }

  static func room(_ count: Int, _ queues: [QueueName: Int] = [:]) -> ClaimTerms {
    ClaimTerms(epoch: epoch, count: count, kinds: ["test"], queueRoom: queues)
  }

  func moment(ended: [JobID] = []) -> RunnerState.Moment {
    RunnerState.Moment(now: now, ended: ended)
  }

  mutating func handle(_ event: RunnerState.Event) -> [RunnerState.Action] {
    state.handle(event, at: moment())
  }

  mutating func wake(
    ended: [JobID] = [], isOfferTaken: Bool = false
  ) -> [RunnerState.Action] {
    state.handle(.woke(claimed: [:], isOfferTaken: isOfferTaken), at: moment(ended: ended))
  }

  /// Goes through a turn up to its survey.
  mutating func startTurn() {
    _ = wake()
    _ = handle(.runnersChecked(next: nil))
  }

  /// Wakes the runner, finds nothing, and returns the time for which it rests.
  mutating func restAfterWake() -> Duration? {
    var actions = wake()
    if case .recordStop? = actions.last { actions = handle(.stopRecorded) }
    if case .checkRunners? = actions.last {
      actions = handle(.runnersChecked(next: nil))
    }
    if case .survey? = actions.last {
      actions = handle(.surveyed(cancelled: [], hasWork: false))
    }
    guard case .rest(let rest)? = actions.last else { return nil }
    return rest.wakeAfter
  }
}

private func id(_ number: Int64) -> JobID { JobID(rawValue: number) }

extension RunnerState.Action {
  fileprivate static func survey(_ running: [JobID], _ terms: ClaimTerms?) -> Self {
    .survey(cancellationsOf: running, terms: terms)
  }

  fileprivate static func exchange(_ terms: ClaimTerms?, ended: Int, hasWork: Bool) -> Self {
    .exchange(
      RunnerState.Exchange(
        terms: terms, endedCount: ended, storesProgress: false, hasWork: hasWork))
  }

  fileprivate static func rest(after time: Duration?, _ offer: ClaimTerms?) -> Self {
    .rest(RunnerState.Rest(wakeAfter: time, offer: offer))
  }
}
