import DurableJobs
import EntityModel
import EntityStore
import Foundation
import Glibc
import TestSupport
import Testing

/// Runners in processes of their own: stopped, replaced, and short of what they need.
@Suite(.serialized, .timeLimit(.minutes(60))) struct JobProcessTests {
  @Test func aSuspendedRunnerKeepsItsJobs() async throws {
    try await withTemporaryFolder { folder in
      let bench = try JobBench(in: folder)
      let first = try await bench.runner()
      let id = try await bench.enqueue("waiting", 1_000)
      await first.wait(for: "waiting")
      first.signal(SIGSTOP)
      let second = try await bench.runner()
      // The other one checks it each second while it works.
      var numbers: Set<Int> = [1_000]
      for part in 0..<(isThorough ? 60 : 4) {
        let enqueuer = try bench.enqueuer(part * 5..<(part + 1) * 5)
        _ = await enqueuer.exit()
        numbers.formUnion(enqueuer.enqueued)
        // The looks have no signal, for they find nothing. A slow machine makes them fewer, not
        // wrong.
        try await Task.sleep(for: .seconds(1))
      }
      let status = try #require(try bench.queue.status(id))
      #expect(status.state == .running && status.rescues == 0)
      #expect(try bench.queue.runners().map(\.isAlive) == [true, true])
      first.signal(SIGCONT)
      try await bench.store.write { _ = try $0.insert("Sample", ["name": "go"]) }
      try await bench.queue.wait(for: id, in: .succeeded)
      #expect(try bench.queue.attempts(of: id).isEmpty)
      try await bench.waitForAll()
      try await bench.stop(first)
      try await bench.stop(second)
      #expect(first.all.contains("end \(id) succeeded 1"))
      #expect(!(first.all + second.all).contains { $0.contains(" lost ") })
      try bench.requireDone(numbers, [first, second])
    }
  }

  @Test func runnersAreReplacedUnderLoadAndNoAttemptCounts() async throws {
    let rounds = isThorough ? 100 : 8
    try await withTemporaryFolder { folder in
      let bench = try JobBench(in: folder)
      var enqueued: Set<Int> = []
      var stopped: [ReportingChild] = []
      var runner = try await bench.runner(["bound=0"])
      for round in 0..<rounds {
        let enqueuer = try bench.enqueuer(round * 30..<(round + 1) * 30)
        for _ in 0..<3 { await runner.wait(for: "end") }
        let next = try await bench.runner(["bound=0"])
        try await bench.stop(runner)
        stopped.append(runner)
        runner = next
        _ = await enqueuer.exit()
        enqueued.formUnion(enqueuer.enqueued)
      }
      try await bench.waitForAll()
      try await bench.stop(runner)
      #expect(enqueued.count == rounds * 30)
      try bench.requireDone(enqueued, stopped + [runner])
      for status in try bench.statuses() {
        #expect(status.attempts == 1 && status.rescues == 0)
        #expect(try bench.queue.attempts(of: status.id).isEmpty)
      }
      #expect(try bench.queue.runners().isEmpty)
    }
  }

  /// A runner opens files at intervals, to test whether other runners live and to poll.
  @Test func aRunnerWithoutDescriptorsContinuesWhenSomeAreFree() async throws {
    try await withTemporaryFolder { folder in
      let bench = try JobBench(in: folder)
      let runner = try await bench.runner()
      let first = try bench.enqueuer(0..<3)
      _ = await first.exit()
      try await bench.waitForAll()
      try runner.say("files")
      #expect(await runner.wait(for: "done") == "done files")
      // Another one is there, whose lock it would ask for.
      let other = try await bench.runner(["slots=1"])
      let waiting = try await bench.enqueue("waiting", 1_000)
      let second = try bench.enqueuer(3..<9)
      _ = await second.exit()
      #expect(await runner.wait(for: "blocked") == "blocked")
      try runner.say("room")
      #expect(await runner.wait(for: "working") == "working")
      await other.kill()
      try await bench.store.write { _ = try $0.insert("Sample", ["name": "go"]) }
      try await bench.queue.wait(for: waiting, in: .succeeded)
      try await bench.waitForAll()
      try await bench.stop(runner)
      try bench.requireDone(first.enqueued.union(second.enqueued).union([1_000]), [runner, other])
    }
  }

  /// libdispatch ends a process whose shared workers all block when it cannot open `/proc/…/stat`
  /// of them (event/workqueue.c). What such a process had claimed is taken over like that of any
  /// other.
  @Test func aProcessThatDispatchTerminatesForLackOfDescriptorsLosesNothing() async throws {
    try await withTemporaryFolder { folder in
      let bench = try JobBench(in: folder)
      let first = try await bench.runner()
      let id = try await bench.enqueue("waiting", 1_000)
      await first.wait(for: "waiting")
      try first.say("files")
      await first.wait(for: "done")
      try first.say("crowd")
      #expect(await first.exit().wasSignal)
      let second = try await bench.runner()
      try await bench.store.write { _ = try $0.insert("Sample", ["name": "go"]) }
      try await bench.queue.wait(for: id, in: .succeeded)
      #expect(try bench.queue.attempts(of: id).map(\.outcome) == ["rescued"])
      try await bench.stop(second)
      try bench.requireDone([1_000], [second])
    }
  }

  @Test func aRunnerThatCannotWriteReportsItAndLosesNothing() async throws {
    try await withTemporaryFolder { folder in
      let bench = try JobBench(in: folder)
      let runner = try await bench.runner()
      let id = try await bench.enqueue("waiting", 1_000)
      await runner.wait(for: "waiting")
      try runner.say("pages")
      #expect(await runner.wait(for: "done") == "done pages")
      let enqueuer = try bench.enqueuer(0..<5)
      _ = await enqueuer.exit()
      #expect(await runner.wait(for: "blocked") == "blocked")
      try runner.say("room")
      #expect(await runner.wait(for: "working") == "working")
      try await bench.store.write { _ = try $0.insert("Sample", ["name": "go"]) }
      try await bench.waitForAll()
      #expect(try bench.queue.status(id)?.attempts == 1)
      try await bench.stop(runner)
      try bench.requireDone(enqueuer.enqueued.union([1_000]), [runner])
    }
  }

  /// Those of a handler that blocks: the runner needs no thread of the pool for them.
  @Test(.timeLimit(.minutes(1))) func jobsAreClaimedWhileEveryThreadOfThePoolIsBlocked()
    async throws
  {
    try await withTemporaryFolder { folder in
      let bench = try JobBench(in: folder)
      let child = try ReportingChild("jobs-pool", bench.path)
      await child.wait(for: "full")
      for number in 0..<20 {
        let id = try await bench.enqueue("effect", number)
        try await bench.queue.wait(for: id, in: .succeeded)
      }
      await child.kill()
      #expect(child.all.filter { $0.hasPrefix("ran") }.count == 20)
    }
  }

  @Test func theMemoryOfALongRunningProcessDoesNotGrow() async throws {
    let seconds = ProcessInfo.processInfo.environment["MOORING_SOAK_SECONDS"] ?? "30"
    try await withTemporaryFolder { folder in
      let bench = try JobBench(in: folder)
      let child = try ReportingChild("jobs-soak", bench.path, ["seconds=\(seconds)"])
      let line = try #require(await child.wait(for: "soaked"), "\(child.all)")
      print(line)
      let numbers = line.split(separator: " ").compactMap { Int($0) }
      try #require(numbers.count == 8)
      #expect(numbers[1] == 0, "jobs are left")
      let (first, last) = (Array(numbers[2..<5]), Array(numbers[5..<8]))
      // What is taken to be flat, as the allocator and the pools breathe: 2 MiB, some threads.
      #expect(isSanitized || last[0] <= first[0] + 2_048, "KiB of memory")
      #expect(last[1] <= first[1] + 4, "threads")
      #expect(last[2] <= first[2] + 2, "descriptors")
      #expect(await child.exit() == ChildProcess.Exit(status: 0, wasSignal: false))
      try requireClean(bench.store)
      try requireWholePages(bench.store)
    }
  }
}
