import Testing

@testable import WorkerService

@Suite struct ChoreTimesTests {
  @Test(arguments: [(0.0, 15.0), (1, 15), (14.9, 15), (15, 30), (15.1, 30), (100, 105)])
  func theNextTimeIsAMultipleOfTheInterval(_ passed: Double, _ next: Double) {
    let start = ContinuousClock.now
    let time = ChoreTimes.next(
      every: .seconds(15), since: start, now: start + .seconds(passed))
    #expect(time == start + .seconds(next))
  }

  @Test func choresWithAMultipleOfTheIntervalComeAtTheSameTime() {
    let start = ContinuousClock.now
    let now = start + .seconds(29)
    let times = [15, 30].map {
      ChoreTimes.next(every: .seconds($0), since: start, now: now)
    }
    #expect(times[0] == times[1])
  }
}
