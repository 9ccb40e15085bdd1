import DurableJobs
import EntityModel
import EntityStore
import FeedSync
import Foundation
import HomeFeed
import Migrations
import TestSupport
import Testing

/// Wrong arguments, stores without jobs, and jobs that are not as they must be.
@Suite(.timeLimit(.minutes(10)))
struct JobsUsageTests {
  private static let verbs = [
    ["list"], ["show", "1"], ["stats"], ["watch", "1"], ["enqueue", "art"], ["retry", "1"],
    ["cancel", "1"], ["pause", "q"], ["resume", "q"], ["drain", "q"], ["prune"], ["runners"],
    ["schedules"], ["schedule", "n", "--cron", "@daily", "--kind", "art"], ["unschedule", "n"],
  ]

  @Test(arguments: verbs)
  func noVerbCreatesAStore(_ verb: [String]) throws {
    try withTemporaryFolder { folder in
      let store = folder.path("none")
      expectFailure(try run("mooring", ["jobs"] + verb, store: store), 69, store)
      #expect(!FileManager.default.fileExists(atPath: store))
    }
  }

  /// A store of before there were jobs.
  @Test func theErrorOfAStoreWithoutJobsGivesAdvice() throws {
    try withTemporaryFolder { folder in
      let store = folder.path("store")
      let old = try Store.open(at: store, migrations: [.feeds, .homeFeed], migrate: .ifEmpty)
      #expect(try !old.hasJobs)
      for verb in Self.verbs {
        expectFailure(
          try run("mooring", ["jobs"] + verb, store: store), 78, "mooring migrate")
      }
      expectFailure(try mooring("check", "--only", "jobs", store: store), 78, "mooring migrate up")
      expectFailure(
        try mooringDump("jobs", store: store), 78, "mooring migrate up", tool: "mooring-dump")
      #expect(try mooring("check", store: store).status == 0)
    }
  }

  @Test func theExamplesOfSchedulesInTheHelpCanBeRun() async throws {
    try await withJobs { store in
      let help = try await store.jobs("schedule", "--help")
      let examples = help.lines.filter { $0.hasPrefix("mooring jobs schedule ") }
      #expect(examples.count == 2)
      for example in examples {
        let process = SpawnedProcess()
        process.executableURL = URL(fileURLWithPath: "/bin/bash")
        process.arguments = ["-c", example]
        let folder = childExecutable(named: "mooring").deletingLastPathComponent().path
        process.environment = ["MOORING_STORE": store.path, "PATH": "\(folder):/usr/bin:/bin"]
        try process.run()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0, "\(example)")
      }
      #expect(try store.queue.scheduleStatuses().count == examples.count)
    }
  }

  @Test(arguments: [
    ["show"], ["show", "x"], ["show", "0"], ["show", "1", "--format", "csv"],
    ["list", "--state", "x"],
    ["list", "--limit", "-1"], ["stats", "--over", "8d"], ["stats", "--over", "1"],
    ["enqueue"], ["enqueue", "a", "--delay", "1h", "--at", "2026-01-01T00:00:00Z"],
    ["enqueue", "a", "--at", "tomorrow"], ["enqueue", "a b"], ["enqueue", "a", "--attempts", "0"],
    ["enqueue", "a", "--attempts", "-1"],
    ["cancel"], ["retry"], ["drain", "q", "--timeout", "x"], ["watch", "1", "--format", "csv"],
    ["schedule", "n", "--kind", "a"], ["schedule", "n n", "--kind", "a", "--cron", "@daily"],
  ])
  func invalidArgumentsAreRefused(_ arguments: [String]) async throws {
    try await withJobs { store in
      let refused = try run("mooring", ["jobs"] + arguments, store: store.path)
      #expect(refused.status == 64, "\(refused.errors)")
      #expect(refused.errors.hasPrefix("mooring: "))
      #expect(refused.messages.count == 1, "\(refused.errors)")
      #expect(try store.queue.list().isEmpty)
    }
  }

  // MARK: Check

  @Test func checkIncludesTheJobs() async throws {
    try await withJobs { store in
      _ = try await store.enqueue("art")
      let sound = try mooring("check", "--only", "jobs", store: store.path)
      #expect(sound.status == 0 && sound.lines.count == 2)
      let whole = try mooring("check", "--format", "json", store: store.path)
      let report = try json(whole.output)
      #expect(whole.status == 0 && report["pages"] != nil && report["integrity"] != nil)
      #expect((report["jobs"] as? [String: Any])?["jobs"] as? Int == 1)
      let part = try json(
        try mooring("check", "--only", "store", "--format", "json", store: store.path).output)
      #expect(part["jobs"] == nil && part["pages"] != nil)
      let migrations = try mooring("check", "--only", "migrations", store: store.path)
      #expect(migrations.status == 0)

      let id = ObjectID(entity: "_Job", number: 1)
      try await store.store.write { transaction in
        try transaction.update(id) { try $0.set("epoch", to: 7) }
      }
      for arguments in [["check"], ["check", "--only", "jobs"]] {
        let damaged = try run("mooring", arguments, store: store.path)
        #expect(damaged.status == 65 && damaged.errors.isEmpty)
        #expect(damaged.output.contains("job 1 is ready, and under a claim of runner 7"))
      }
      try await store.store.write { transaction in
        try transaction.update(id) { try $0.set("epoch", to: .null) }
      }
    }
  }

  @Test func aRunnerThatDiedIsNoDamage() async throws {
    try await withJobs { store in
      try await store.store.write { transaction in
        try transaction.insert(
          "_JobRunner",
          [
            "process": 1, "host": "h", "command": "gone", "startedAt": .date(transaction.now),
            "kinds": "art",
          ])
      }
      let checked = try mooring("check", "--only", "jobs", store: store.path)
      #expect(checked.status == 0)
      #expect(checked.output.contains("remark: runner 1 (gone, pid 1) is dead; it has no jobs"))
      #expect(try await store.jobs("runners").lines.last?.contains("dead") == true)
    }
  }

  // MARK: The dump

  @Test func theDumpShowsJobsAsTheyAreStored() async throws {
    try await withJobs { store in
      _ = try await store.enqueue("art", "--payload", #"{"a":"b"}"#)
      _ = try await store.enqueue("art", "--delay", "1h")
      let all = try jsonLines(try mooringDump("jobs", store: store.path).output)
      #expect(all.map { $0["_id"] as? Int } == [1, 2])
      #expect(all[0]["payload"] as? String == #"{"a":"b"}"#)
      #expect(all[0]["state"] as? String == "ready" && all[0]["lane"] as? String == "default/art")
      let id = ObjectID(entity: "_Job", number: 1)
      try await store.store.write { transaction in
        try transaction.update(id) { try $0.set("state", to: "asleep") }
      }
      let odd = try mooringDump("jobs", "--state", "asleep", "--format", "csv", store: store.path)
      #expect(odd.status == 0 && CommaSeparated.rows(of: odd.output).count == 2)
      expectFailure(try await store.jobs("list"), 69, "asleep")
      expectFailure(
        try mooringDump("jobs", "--state", "sleeping", store: store.path), 64,
        "no job has the state \"sleeping\"; the states are scheduled, ready, held,",
        tool: "mooring-dump")
      try await store.store.write { transaction in
        try transaction.update(id) { try $0.set("state", to: "ready") }
      }
    }
  }

  @Test func theDumpContinuesAfterADamagedRecord() async throws {
    try await withJobs { store in
      _ = try await store.enqueue("art", "--payload", #"{"a":"damage-me"}"#)
      let second = try await store.enqueue("art")
      let copy = store.path + "-copy"
      let data = [UInt8](try Data(contentsOf: URL(fileURLWithPath: store.path + "/data.mdb")))
      try SampleStore.write(try broken(data, at: "damage-me"), to: copy)
      let dump = try mooringDump("jobs", store: copy)
      #expect(dump.status == 65)
      #expect(dump.errors.contains("_Job") && dump.errors.contains("1 jobs cannot be read"))
      #expect(try jsonLines(dump.output).map { $0["_id"] as? Int64 } == [second.rawValue])
    }
  }

  /// Damages the header of the record that contains a text, in every page with a copy of it.
  private func broken(_ data: [UInt8], at text: String) throws -> [UInt8] {
    var data = data
    let needle = Array(text.utf8)
    var places: [Int] = []
    var index = 0
    while index + needle.count <= data.count {
      if data[index] == needle[0], Array(data[index..<index + needle.count]) == needle {
        places.append(index)
      }
      index += 1
    }
    try #require(!places.isEmpty)
    for place in places {
      // The kind stands before the payload, and its bytes are to be UTF-8.
      var kind = place
      while Array(data[kind..<kind + 3]) != Array("art".utf8) { kind -= 1 }
      data[kind] = 0xFF
    }
    return data
  }
}
