import DurableJobs
import EntityModel
import EntityStore
import Foundation
import Glibc
import TestSupport
import Testing

/// Processes that enqueue jobs and run them are killed: no job is lost, and each has had its effect
/// once.
@Suite(.serialized, .timeLimit(.minutes(60))) struct JobKillTests {
  @Test func everyJobTakesEffectOnceInSpiteOfKills() async throws {
    let kills = isThorough ? 1_000 : 30
    var random = SeededRandom(seed: testSeed(71))
    try await withTemporaryFolder { folder in
      let bench = try JobBench(in: folder)
      var children: [ReportingChild] = []
      var runners = [try await bench.runner(), try await bench.runner()]
      var enqueued: Set<Int> = []
      for round in 0..<kills {
        let enqueuer = try bench.enqueuer(round * 20..<(round + 1) * 20)
        let place = random.number(0...2)
        let victim = place == 2 ? enqueuer : runners[place]
        for _ in 0..<random.number(0...20) where await enqueuer.wait() == nil { break }
        // The moment of a kill is what is drawn: at whichever it comes, the same must hold.
        usleep(UInt32(random.number(0...3_000)))
        await victim.kill()
        children.append(victim)
        if place < 2 { runners[place] = try await bench.runner() }
        _ = await enqueuer.exit()
        enqueued.formUnion(enqueuer.enqueued)
      }
      try await bench.waitForAll()
      for runner in runners { try await bench.stop(runner) }
      try bench.requireDone(enqueued, children + runners)
      #expect(try bench.queue.runners().isEmpty)
      print("\(kills) kills, \(enqueued.count) jobs, seed \(random.seed)")
    }
  }

  /// Around the commit that ends a job with its own changes.
  @Test(arguments: ["before", "inside", "after"])
  func aRunnerThatDiesAtTheEndOfAJobHasCommittedItsEndOrNot(point: String) async throws {
    try await withTemporaryFolder { folder in
      let bench = try JobBench(in: folder)
      let enqueuer = try bench.enqueuer(0..<24)
      _ = await enqueuer.exit()
      var children: [ReportingChild] = []
      for times in 1...3 {
        let child = try await bench.runner(["kill=\(point)", "after=\(times)", "slots=\(times)"])
        #expect(await child.exit() == ChildProcess.Exit(status: SIGKILL, wasSignal: true))
        children.append(child)
      }
      let last = try await bench.runner()
      try await bench.waitForAll()
      try await bench.stop(last)
      try bench.requireDone(enqueuer.enqueued, children + [last])
    }
  }

  /// Kills at each write and each flush of the file: those of a claim, a finish, a rescue.
  @Test func aProcessMayDieAtAnyOfItsWrites() async throws {
    let kills = isThorough ? 400 : 16
    var random = SeededRandom(seed: testSeed(72))
    try await withTemporaryFolder { folder in
      guard let shim = try FaultShim(in: folder) else {
        print("there is no C compiler: not tested")
        return
      }
      let bench = try JobBench(in: folder)
      var children: [ReportingChild] = []
      var enqueued: Set<Int> = []
      var killed = 0
      for round in 0..<kills {
        let enqueues = random.oneIn(4)
        let call = random.number(1...(enqueues ? 60 : 150))
        let environment = shim.environment(
          call: call, number: -SIGKILL, stays: false, of: bench.path)
        let enqueuer = try bench.enqueuer(
          round * 6..<(round + 1) * 6, environment: enqueues ? environment : [:])
        if await enqueuer.exit().wasSignal { killed += 1 }
        enqueued.formUnion(enqueuer.enqueued)
        if enqueues { continue }
        let runner = try await bench.runner(["ends=12", "flush=1"], environment: environment)
        if try await Self.waitForEnd(of: runner, bench) { killed += 1 }
        children.append(runner)
      }
      let last = try await bench.runner()
      try await bench.waitForAll()
      try await bench.stop(last)
      try bench.requireDone(enqueued, children + [last])
      #expect(killed > kills / 3)
      print("\(killed) kills in \(kills) rounds, seed \(random.seed)")
    }
  }

  /// The output of a process that dies, or has nothing more to do.
  ///
  /// - Returns: Whether it was killed.
  private static func waitForEnd(of runner: ReportingChild, _ bench: JobBench) async throws -> Bool
  {
    let idle = Task {
      try await bench.waitForAll()
      runner.signal(SIGTERM)
    }
    let exit = await runner.exit()
    idle.cancel()
    return exit.wasSignal
  }

  @Test func theJobsOfAKilledRunnerAreTakenOverByTheOther() async throws {
    try await withTemporaryFolder { folder in
      let bench = try JobBench(in: folder)
      let first = try await bench.runner()
      let id = try await bench.enqueue("waiting", 1)
      await first.wait(for: "waiting")
      let second = try await bench.runner()
      await first.kill()
      let status = try await bench.queue.wait(for: id) { $0.rescues == 1 }
      #expect(status.attempts == 0 || status.state == .running)
      try await bench.store.write { _ = try $0.insert("Sample", ["name": "go"]) }
      try await bench.queue.wait(for: id, in: .succeeded)
      #expect(try bench.queue.attempts(of: id).map(\.outcome) == ["rescued"])
      try await bench.stop(second)
      try bench.requireDone([1], [first, second])
    }
  }

  @Test func aJobThatKillsItsProcessIsPoisonedUnlessItMakesProgress() async throws {
    try await withTemporaryFolder { folder in
      let bench = try JobBench(in: folder)
      let poison = try await bench.enqueue("poison", 1_000) { $0.rescuesMax = 2 }
      let climber = try await bench.enqueue("climber", 1_001) { $0.rescuesMax = 2 }
      let enqueuer = try bench.enqueuer(0..<20)
      _ = await enqueuer.exit()
      var deaths = 0
      while true {
        let runner = try await bench.runner()
        let idle = Task {
          try await bench.waitForAll()
          runner.signal(SIGTERM)
        }
        let exit = await runner.exit()
        idle.cancel()
        try bench.requireHonest(runner)
        if !exit.wasSignal { break }
        deaths += 1
        try #require(deaths < 20)
      }
      let status = try #require(try bench.queue.status(poison))
      #expect(status.state == .poisoned && status.rescues == 3)
      #expect(status.error?.contains("died 3 times") == true)
      #expect(
        try bench.queue.attempts(of: poison).map(\.outcome) == ["rescued", "rescued", "rescued"])
      #expect(try bench.queue.status(climber)?.state == .succeeded)
      // Both may have died in the same process.
      #expect((6...9).contains(deaths), "\(deaths)")
      let others = try bench.statuses().filter { $0.id != poison && $0.id != climber }
      #expect(others.count == 20 && others.allSatisfy { $0.state == .succeeded })
    }
  }
}
