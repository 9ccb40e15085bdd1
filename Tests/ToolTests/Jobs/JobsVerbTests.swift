import DurableJobs
import EntityModel
import EntityStore
import Foundation
import Glibc
import TestSupport
import Testing

/// The commands of `mooring jobs`.
@Suite(.timeLimit(.minutes(10)))
struct JobsVerbTests {
  // MARK: Making

  @Test func aJobIsEnqueuedAndListed() async throws {
    try await withJobs { store in
      let made = try await store.jobs("enqueue", "test.echo", "--payload", #"{"text":"hi"}"#)
      #expect(made.status == 0 && made.output == "job 1\n")
      #expect(
        made.errors == "mooring: no worker is running; start one with `mooring worker`\n")
      let before = Date()
      let quiet = try await store.jobs(
        "enqueue", "art", "--queue", "slow", "--priority", "-3", "--attempts", "2", "--delay",
        "10m",
        "--quiet", "--format", "json")
      #expect(quiet.output == #"{"isNew":true,"job":2}"# + "\n" && quiet.errors.isEmpty)
      let status = try #require(try store.queue.status(JobID(rawValue: 2)))
      #expect(status.state == .scheduled && status.queue == "slow" && status.priority == -3)
      #expect(status.attemptsMax == 2 && status.payload == "{}")
      #expect(
        (before.addingTimeInterval(600)...Date().addingTimeInterval(600)).contains(status.runAt))

      let table = try await store.jobs("list")
      #expect(
        table.lines.first?.split(separator: " ").map(String.init)
          == ["job", "queue", "kind", "state", "when", "attempts", "progress", "error"])
      #expect(table.lines.count == 3 && table.lines[1].hasPrefix("  2  slow"))
      let csv = try await store.jobs("list", "--format", "csv", "--state", "ready")
      let rows = CommaSeparated.rows(of: csv.output)
      #expect(
        rows.map { $0.prefix(4).joined(separator: " ") } == [
          "job queue kind state", "1 default test.echo ready",
        ])
      let lines = try jsonLines(try await store.jobs("list", "--format", "jsonl").output)
      #expect(lines.map { $0["id"] as? Int } == [2, 1])
      #expect(try await store.jobs("list", "--kind", "none", "--format", "json").output == "[]\n")
      #expect(try await store.jobs("list", "--limit", "0").lines.count == 1)
      let slow = try jsonLines(
        try await store.jobs("list", "--queue", "slow", "--format", "jsonl").output)
      #expect(slow.map { $0["id"] as? Int } == [2])
      let newest = try await store.jobs("list", "--limit", "1", "--format", "jsonl")
      #expect(try jsonLines(newest.output).map { $0["id"] as? Int } == [2])
      let tomorrow = Date(timeIntervalSinceNow: 86_400).formatted(.iso8601)
      let later = try await store.enqueue("art", "--at", tomorrow)
      #expect(try store.queue.status(later)?.runAt.formatted(.iso8601) == tomorrow)
    }
  }

  @Test func theJobsOfABatchAreListed() async throws {
    try await withJobs { store in
      let art = JobRequest(kind: "art", payload: Data("{}".utf8))
      let batch = try await store.store.write { transaction in
        try transaction.enqueue(art)
        return try transaction.enqueue(group: [art, art], then: art)
      }
      let listed = try await store.jobs("list", "--batch", "\(batch)", "--format", "jsonl")
      #expect(try jsonLines(listed.output).count == 2)
      let last = try #require(try store.queue.list().first { $0.state == .blocked }).id
      #expect(try await store.jobs("cancel", "\(last)").status == 0)
      let retried = try await store.jobs("retry", "\(last)", "--format", "jsonl")
      #expect(retried.output == #"{"job":\#(last),"state":"blocked"}"# + "\n")
    }
  }

  @Test func aUniqueKeyAllowsOneJob() async throws {
    try await withJobs { store in
      let first = try await store.enqueue("art", "--unique", "a")
      let second = try await store.jobs("enqueue", "art", "--unique", "a")
      #expect(second.status == 0 && second.output == "job \(first)\n")
      #expect(second.errors.contains("has this unique key already"))
      #expect(try await store.enqueue("other", "--unique", "a") != first)
    }
  }

  @Test func aPayloadComesFromAFile() async throws {
    try await withJobs { store in
      let file = store.path + "-payload"
      try Data(#"{"text":"from a file"}"#.utf8).write(to: URL(fileURLWithPath: file))
      let job = try await store.enqueue("test.echo", "--payload", "@" + file)
      #expect(try store.queue.status(job)?.payload == #"{"text":"from a file"}"#)
      try Data("text".utf8).write(to: URL(fileURLWithPath: file))
      expectFailure(
        try await store.jobs("enqueue", "e", "--payload", "@" + file), 65, "holds no JSON")
      expectFailure(try await store.jobs("enqueue", "e", "--payload", "@/none"), 69, "/none")
      expectFailure(try await store.jobs("enqueue", "e", "--payload", "{x"), 64, "is no JSON")
    }
  }

  /// A mistake is reported now, and the policy is the kind's.
  @Test func aKindThatIsKnownHasItsOwnShape() async throws {
    try await withJobs { store in
      expectFailure(
        try await store.jobs("enqueue", "feed.sync", "--payload", #"{"fed":1}"#), 64,
        "no job of the kind feed.sync", "feed is missing")
      let job = try await store.enqueue("feed.sync", "--payload", #"{"feed":7}"#)
      let status = try #require(try store.queue.status(job))
      #expect(status.queue == "sync" && status.attemptsMax == 3)
      #expect(status.uniqueKey == "feed.sync:7")
    }
  }

  // MARK: Looking

  @Test func showPrintsEverythingAboutAJob() async throws {
    try await withJobs { store in
      let job = try await store.enqueue("test.failing")
      let waiting = try await store.jobs("show", "\(job)")
      #expect(waiting.output.contains("a worker that knows its kind"))
      try await store.withRunner(.ofTests) {
        let watched = try await store.jobs("watch", "\(job)")
        #expect(watched.status == 65, "\(watched.errors)")
        #expect(watched.output.hasPrefix("job \(job) discarded after "))
        #expect(watched.output.hasSuffix(": refused\n"))
      }
      let shown = try await store.jobs("show", "\(job)")
      #expect(shown.lines.contains { $0.hasPrefix("state") && $0.hasSuffix("discarded") })
      #expect(shown.lines.contains { $0.hasPrefix("error") && $0.hasSuffix("refused") })
      #expect(
        shown.lines.contains {
          $0.split(separator: " ") == ["attempt", "outcome", "ended", "took", "runner", "error"]
        })
      let details = try json(try await store.jobs("show", "\(job)", "--format", "json").output)
      let attempts = try #require(details["attempts"] as? [[String: Any]])
      #expect(attempts.count == 1 && attempts[0]["outcome"] as? String == "discarded")
      #expect((details["job"] as? [String: Any])?["state"] as? String == "discarded")
      #expect(details["isQueuePaused"] as? Bool == false && details["runner"] == nil)
    }
  }

  @Test func statsCountFinishedJobs() async throws {
    try await withJobs { store in
      let waiting = try await store.enqueue("art", "--queue", "slow")
      let failing = try await store.enqueue("test.failing")
      try await store.withRunner(.ofTests) {
        try await store.wait(for: .discarded, of: failing)
        let live = try await store.jobs("stats")
        #expect(live.output.contains("nobody runs this kind"))
        #expect(live.lines.contains { $0.hasPrefix("runner 1: tests, pid \(getpid())") })
        #expect(
          CommaSeparated.rows(of: try await store.jobs("runners", "--format", "csv").output).count
            == 2)
      }
      let stats = try json(try await store.jobs("stats", "--over", "2h", "--format", "json").output)
      let lanes = try #require(stats["lanes"] as? [[String: Any]])
      #expect(lanes.map { $0["kind"] as? String } == ["test.failing", "art"])
      #expect(lanes[1]["ready"] as? Int == 1 && lanes[1]["isServed"] as? Bool == false)
      let ended = try #require(lanes[0]["ended"] as? [String: Any])
      #expect(ended["failed"] as? Int == 1 && ended["succeeded"] as? Int == 0)
      #expect((ended["run"] as? [String: Any])?["count"] as? Int == 1)
      #expect((stats["finished"] as? [String: Int])?["discarded"] == 1)
      let (at, since) = (try date(stats["at"]), try date(stats["since"]))
      #expect((7_200..<7_260).contains(at.timeIntervalSince(since)))
      let csv = CommaSeparated.rows(of: try await store.jobs("stats", "--format", "csv").output)
      #expect(csv.count == 3 && csv.allSatisfy { $0.count == 20 })
      let text = try await store.jobs("stats")
      #expect(text.output.contains("no worker is running"))
      // One in 60 minutes and a part of one.
      let row = text.lines.first { $0.contains("test.failing") }?.split(separator: " ")
      #expect(row?.dropFirst(2).prefix(6) == ["0", "0.00", "0", "0.00", "1", "0.02"])
      #expect(text.output.contains("kept: 1 discarded"))
      #expect(try store.state(waiting) == .ready)
    }
  }

  @Test func watchFollowsAJobToItsEnd() async throws {
    try await withJobs { store in
      let job = try await store.enqueue("test.echo", "--payload", #"{"text":"hi"}"#)
      let watch = try StartedTool("mooring", ["jobs", "watch", "\(job)"], store: store.path)
      try watch.waitForError("job \(job): ready")
      try await store.withRunner(.ofTests) {
        let run = try await watch.finished()
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.output.hasPrefix("job \(job) succeeded after "))
        #expect(run.output.hasSuffix(": \"hi\"\n"))
        #expect(run.messages.last == "mooring: job \(job): succeeded")
        let made = try await store.jobs(
          "enqueue", "test.echo", "--payload", #"{"text":"ho"}"#, "--watch", "--format", "jsonl")
        #expect(made.status == 0)
        #expect(try jsonLines(made.output).last?["output"] as? String == #""ho""#)
      }
    }
  }

  @Test func ctrlCEndsTheWatchAndNotTheJob() async throws {
    try await withJobs { store in
      let job = try await store.enqueue("test.endless")
      try await store.withRunner(.ofTests) {
        try await store.wait(for: .running, of: job)
        let watch = try StartedTool("mooring", ["jobs", "watch", "\(job)"], store: store.path)
        try watch.waitForError("job \(job): running")
        kill(watch.pid, SIGINT)
        let run = try await watch.finished()
        #expect(run.status == 130)
        #expect(run.messages.last?.contains("the job continues") == true)
        #expect(try store.state(job) == .running)
        let cancelled = try await store.jobs("cancel", "\(job)", "--wait", "--format", "jsonl")
        #expect(cancelled.status == 0, "\(cancelled.errors)")
        #expect(cancelled.output == #"{"job":\#(job),"state":"cancelled"}"# + "\n")
      }
    }
  }

  // MARK: Steering

  @Test func jobsAreCancelledAndRetried() async throws {
    try await withJobs { store in
      let (first, second) = (
        try await store.enqueue("art"), try await store.enqueue("art", "--delay", "1h")
      )
      let cancelled = try await store.jobs("cancel", "\(first)", "\(second)", "--format", "csv")
      #expect(cancelled.status == 0)
      #expect(cancelled.output == "job,state\r\n1,cancelled\r\n2,cancelled\r\n")
      expectFailure(try await store.jobs("cancel", "\(first)"), 69, "has ended", "cancelled")
      expectFailure(try await store.jobs("cancel", "99"), 69, "no such job", "99")
      let both = try await store.jobs("retry", "99", "\(first)", "--format", "jsonl")
      #expect(both.status == 69 && both.messages.count == 1)
      #expect(both.output == #"{"job":1,"state":"ready"}"# + "\n")
      #expect(try store.state(first) == .ready)
      expectFailure(try await store.jobs("retry", "\(first)"), 69, "state: ready")
    }
  }

  @Test func aQueueIsPausedDrainedAndResumed() async throws {
    try await withJobs { store in
      #expect(
        try await store.jobs("pause", "default").errors.contains("the queue default is paused"))
      #expect(try await store.jobs("pause", "default").errors.contains("was paused already"))
      let job = try await store.enqueue("test.echo", "--payload", #"{"text":""}"#)
      let endless = try await store.enqueue("test.endless", "--queue", "slow")
      try await store.withRunner(.ofTests) {
        try await store.wait(for: .running, of: endless)
        // The runner has looked at the queues, and left this one.
        #expect(try store.state(job) == .ready)
        #expect(try await store.jobs("show", "\(job)").output.contains("its queue to be resumed"))
        let late = try await store.jobs("drain", "slow", "--timeout", "1ms")
        expectFailure(late, 75, "still run", "stays paused")
        let drain = try StartedTool("mooring", ["jobs", "drain", "slow"], store: store.path)
        _ = try await store.queue.cancel(endless)
        let drained = try await drain.finished()
        #expect(drained.status == 0 && drained.errors.contains("none of its jobs runs"))
        #expect(try await store.jobs("resume", "default").errors.contains("is resumed"))
        try await store.wait(for: .succeeded, of: job)
      }
      #expect(try store.queue.pausedQueues() == ["slow"])
      #expect(try await store.jobs("resume", "default").errors.contains("was not paused"))
      expectFailure(try await store.jobs("pause", "no queue"), 64, "no queue")
    }
  }

  @Test func pruneRemovesWhatIsDue() async throws {
    try await withJobs { store in
      var request = JobRequest(kind: "art", payload: Data("1".utf8))
      request.retention = .zero
      _ = try await store.queue.cancel(store.queue.enqueue(request).id)
      #expect(try await store.jobs("prune", "--format", "json").output == #"{"removed":1}"# + "\n")
      #expect(try await store.jobs("prune").output == "removed 0 jobs\n")
      #expect(try await store.jobs("prune", "--format", "csv").output == "removed\r\n0\r\n")
      expectFailure(try await store.jobs("show", "1"), 69, "no job 1")
    }
  }

  // MARK: Schedules

  @Test func aScheduleIsSetListedAndRemoved() async throws {
    try await withJobs { store in
      let set = try await store.jobs(
        "schedule", "nightly", "--cron", "30 3 * * *", "--zone", "Europe/Berlin", "--kind", "art",
        "--payload", #"{"a":1}"#, "--missed", "all:3", "--jitter", "30s", "--overlaps")
      #expect(
        set.status == 0 && set.errors.contains("the schedule nightly is set; it enqueues a job"))
      let all = try jsonLines(try await store.jobs("schedules", "--format", "jsonl").output)
      let schedule = try #require(all.first)
      #expect(schedule["expression"] as? String == "30 3 * * *")
      #expect(schedule["zone"] as? String == "Europe/Berlin")
      #expect(schedule["missed"] as? String == "all:3" && schedule["overlaps"] as? Bool == true)
      #expect(schedule["jitterSeconds"] as? Double == 30 && schedule["nextAt"] != nil)
      let changed = try await store.jobs("schedule", "nightly", "--cron", "@daily", "--kind", "art")
      #expect(changed.errors.contains("was changed"))
      #expect(try await store.jobs("schedules").lines.count == 2)
      #expect(
        CommaSeparated.rows(of: try await store.jobs("schedules", "--format", "csv").output).count
          == 2)
      #expect(try await store.jobs("unschedule", "nightly").status == 0)
      expectFailure(try await store.jobs("unschedule", "nightly"), 69, "no such schedule")
      for (arguments, part) in [
        (["--cron", "99 * * * *"], "minute"), (["--cron", "@daily", "--zone", "Mars"], "zone"),
        (["--cron", "@daily", "--missed", "x"], "skip"),
        (["--cron", "@daily", "--jitter", "x"], "x"),
      ] {
        let refused = try run(
          "mooring", ["jobs", "schedule", "s", "--kind", "art"] + arguments, store: store.path)
        expectFailure(refused, 64, part)
      }
    }
  }
}
