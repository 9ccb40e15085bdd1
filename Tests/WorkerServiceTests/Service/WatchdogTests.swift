import Dispatch
import SystemSupport
import Testing

@testable import WorkerService

@Suite struct WatchdogTests {
  @Test(
    arguments: [
      ([:], nil), (["WATCHDOG_USEC": "60000000"], .seconds(30)),
      (["WATCHDOG_USEC": "60000000", "WATCHDOG_PID": "42"], .seconds(30)),
      (["WATCHDOG_USEC": "60000000", "WATCHDOG_PID": "43"], nil),
      (["WATCHDOG_USEC": "0"], nil), (["WATCHDOG_USEC": "-5"], nil), (["WATCHDOG_USEC": "x"], nil),
    ] as [([String: String], Duration?)])
  func theIntervalIsHalfOfWhatSystemdWaits(_ environment: [String: String], _ expected: Duration?) {
    #expect(Watchdog.interval(environment: environment, process: 42) == expected)
  }

  @Test func onlyAProbeThatAnsweredTrueIsFollowedByAPing() async {
    let (probe, pings) = (Probe(), Pings())
    let watchdog = Watchdog(every: .seconds(1), probe: { await probe.ask() }, ping: pings.add)
    for answer in [true, false, true] {
      let round = watchdog.tick()
      await probe.answer(answer)
      await round?.value
    }
    #expect(pings.count == 2)
  }

  @Test func aProbeWithoutAnAnswerIsNotRepeated() async throws {
    let (probe, pings) = (Probe(), Pings())
    let watchdog = Watchdog(every: .seconds(1), probe: { await probe.ask() }, ping: pings.add)
    let round = watchdog.tick()
    #expect(round != nil)
    try #require(watchdog.tick() == nil)
    try #require(watchdog.tick() == nil)
    #expect(pings.count == 0)
    await probe.answer(true)
    await round?.value
    #expect(pings.count == 1)
    #expect(await probe.questions == 1)
  }

  @Test func anAnswerAfterTheEndSendsNoPing() async {
    let (probe, pings) = (Probe(), Pings())
    let watchdog = Watchdog(every: .seconds(1), probe: { await probe.ask() }, ping: pings.add)
    let round = watchdog.tick()
    watchdog.stop()
    await probe.answer(true)
    await round?.value
    #expect(pings.count == 0)
    #expect(watchdog.tick() == nil)
  }

  @Test func theTimerRepeatsUntilItIsStopped() async {
    let (pinged, continuation) = AsyncStream.makeStream(of: Void.self)
    let watchdog = Watchdog(
      every: .milliseconds(1), probe: { true }, ping: { continuation.yield() })
    watchdog.start()
    var pings = pinged.makeAsyncIterator()
    for _ in 0..<3 { await pings.next() }
    watchdog.stop()
    #expect(watchdog.tick() == nil)
  }

  @Test func aWatchdogThatNeverStartsEndsQuietly() {
    _ = Watchdog(every: .seconds(Int64.max), probe: { true }, ping: {})
  }
}

private final class Pings: Sendable {
  private let state = Locked(0)
  var count: Int { state.withLock { $0 } }
  func add() { state.withLock { $0 += 1 } }
}

/// A probe whose answer and time the test controls.
private actor Probe {
  private(set) var questions = 0
  private var asked: CheckedContinuation<Bool, Never>?
  private var waiting: CheckedContinuation<Void, Never>?

  func ask() async -> Bool {
    questions += 1
    return await withCheckedContinuation { continuation in
      asked = continuation
      waiting?.resume()
      waiting = nil
    }
  }

  /// Waits for the question first.
  func answer(_ answer: Bool) async {
    if asked == nil { await withCheckedContinuation { waiting = $0 } }
    asked?.resume(returning: answer)
    asked = nil
  }
}
