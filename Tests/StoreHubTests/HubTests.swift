import DurableJobs
import EntityModel
import EntityStore
import Foundation
import LMDB
import Migrations
import PostgreSQL
import PostgreSQLTestSupport
import SystemSupport
import TestSupport
import Testing

@testable import StoreHub

@Suite(
  .enabled(if: PostgreSQLServer.canRun, "\(PostgreSQLServer.skipReason)"), .timeLimit(.minutes(5)))
struct HubTests {
  @Test func aMachineThatJoinsHasTheStoreAndFollowsIt() async throws {
    try await withHub { hub in
      try await hub.create()
      let first = try hub.open("first")
      try await insert("before the join", into: first)
      let second = try hub.join("second")
      #expect(try names(of: second) == ["before the join", "from the beginning"])
      try await insert("from the second", into: second)
      try await insert("from the first", into: first)
      try requireEqual(first, second)
      #expect(try names(of: first).count == 4)
      var session = try hub.session()
      let membership = try #require(try HubMembership.read(inStore: hub.folder.path("first")))
      let report = try session.report(on: membership)
      #expect(report.newestEntry == 3)
      #expect(report.machines.map(\.name) == ["first", "second"])
      #expect(report.machines.map(\.isThis) == [true, false])
    }
  }

  @Test func writersOfThreeMachinesLoseNothing() async throws {
    try await withHub { hub in
      try await hub.create()
      let stores = [try hub.open("first"), try hub.join("second"), try hub.join("third")]
      try await withThrowingTaskGroup(of: Void.self) { group in
        for (machine, store) in stores.enumerated() {
          for writer in 0..<4 {
            group.addTask {
              for number in 0..<10 {
                try await insert("\(machine) \(writer) \(number)", into: store)
              }
            }
          }
        }
        try await group.waitForAll()
      }
      try requireEqual(stores[0], stores[1])
      try requireEqual(stores[1], stores[2])
      #expect(try names(of: stores[0]).count == 121)
    }
  }

  @Test func aStoreOfAHubIsNotWrittenWithoutItsLog() async throws {
    try await withHub { hub in
      try await hub.create()
      let store = try Store.open(
        at: hub.folder.path("first"), migrations: [.model, .jobs], migrate: .never,
        options: hub.options)
      #expect(await code { try await insert("lost", into: store) } == .needsCommitLog)
      #expect(try names(of: store) == ["from the beginning"])
    }
  }

  @Test func withoutAServerAStoreIsReadAndNotWritten() async throws {
    try await withHub { hub in
      try await hub.create()
      var options = hub.options
      options.writerDeadline = .milliseconds(100)
      let membership = try #require(try HubMembership.read(inStore: hub.folder.path("first")))
      let nowhere = try ConnectionString("host=127.0.0.1 port=9 dbname=none user=nobody")
      HubAddress(database: nowhere, membership: membership).addLog(to: &options)
      let store = try Store.open(
        at: hub.folder.path("first"), migrations: [.model, .jobs], migrate: .never, options: options
      )
      #expect(try names(of: store) == ["from the beginning"])
      let error = try await #require(throws: StoreError.self) {
        try await insert("lost", into: store)
      }
      #expect(error.code == .unreachable)
      #expect(error.isTemporary)
    }
  }

  @Test func theAnswerOfACommitThatIsLostIsLookedUp() async throws {
    try await withHub { hub in
      try await hub.create()
      let proxy = try CuttingProxy(HubServer.shared())
      defer { proxy.stop() }
      let store = try hub.open("first", through: proxy.connectionText)
      // From within the turn: the next answer is that of the commit.
      try await store.write { transaction in
        _ = try transaction.insert("Sample", ["name": "once"])
        proxy.cutAtNextAnswer(once: true)
      }
      let second = try hub.join("second")
      #expect(try names(of: second) == ["from the beginning", "once"])
    }
  }

  @Test func aSilentHolderOfTheTurnDoesNotKeepOthersFromWriting() async throws {
    try await withHub { hub in
      try await hub.create()
      let (first, second) = (try hub.open("first"), try hub.join("second"))
      let (begun, goOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
      let holder = Task {
        await code {
          try await first.write { transaction in
            _ = try transaction.insert("Sample", ["name": "silent"])
            begun.signal()
            goOn.wait()
          }
        }
      }
      await Task.detached { begun.waitForSignal() }.value
      try await insert("from the second", into: second)
      goOn.signal()
      #expect(await holder.value == .busy)
      try requireEqual(first, second)
      #expect(try names(of: second) == ["from the beginning", "from the second"])
    }
  }

  @Test func aLossyFailoverIsNoticedByTheMachineThatWasAheadAndItJoinsAgain() async throws {
    try await withHub { hub in
      try await hub.create()
      let second = try hub.join("second")
      try await usingAlone("first", of: hub) { first in
        try await insert("kept", into: first)
        try second.catchUp()
        let before = try #require(try second.logPosition)
        try await insert("lost with the server", into: first)
        // What an asynchronous standby lacks when it is promoted.
        let identity = try hub.identity()
        try hub.execute(
          Statement(
            "DELETE FROM mooring.entry WHERE store = $1 AND seq > $2", .uuid(identity),
            .int8(Int64(before.sequence))))
        try hub.execute(
          Statement(
            "UPDATE mooring.store SET seq = $2, chain = $3 WHERE id = $1", .uuid(identity),
            .int8(Int64(before.sequence)), .bytes(before.chain.bytes)))
        #expect(await code { try await insert("refused", into: first) } == .diverged)
        try await insert("after the failover", into: second)
        #expect(await code { try await insert("refused", into: first) } == .diverged)
      }
      let joined = try hub.setup("first").join(named: hub.name, opening: hub.options)
      let kept = try #require(joined.replacedFile)
      #expect(FileManager.default.fileExists(atPath: kept))
      try requireEqual(try hub.open("first"), second)
      #expect(
        try names(of: second) == ["after the failover", "from the beginning", "kept"])
    }
  }

  @Test func aCopiedFolderIsOneMoreMachine() async throws {
    try await withHub { hub in
      try await hub.create()
      try FileManager.default.copyItem(
        atPath: hub.folder.path("first"), toPath: hub.folder.path("copy"))
      let (first, copy) = (try hub.open("first"), try hub.open("copy"))
      try await insert("from the original", into: first)
      try await insert("from the copy", into: copy)
      try requireEqual(first, copy)
    }
  }

  @Test func trimmingKeepsWhatAJoiningMachineNeeds() async throws {
    try await withHub { hub in
      try await hub.create()
      let first = try hub.open("first")
      let late = try hub.join("late")
      for number in 0..<3 { try await insert("\(number)", into: first) }
      let identity = try hub.identity()
      var session = try hub.session()
      let trimmed = try session.trim(first, of: identity)
      // The older of the two snapshots is that of the beginning.
      #expect(trimmed == TrimReport(snapshot: 3, firstEntry: 1, entriesRemoved: 0))
      for number in 3..<6 { try await insert("\(number)", into: first) }
      let again = try session.trim(first, of: identity)
      #expect(again == TrimReport(snapshot: 6, firstEntry: 4, entriesRemoved: 3))
      #expect(try session.snapshots(of: identity).map(\.sequence) == [6, 3])
      #expect(await code { try late.catchUp() } == .diverged)
      let second = try hub.join("second")
      try requireEqual(first, second)
    }
  }

  @Test func aStoreThatLeavesIsIndependent() async throws {
    try await withHub { hub in
      try await hub.create()
      let first = try hub.open("first")
      let path = hub.folder.path("second")
      _ = try hub.setup("second").join(named: hub.name, opening: hub.options)
      let membership = try #require(try HubMembership.read(inStore: path))
      try await usingAlone("second", of: hub) { second in
        let failure = try HubSetup.leave(second, membership, database: hub.database)
        #expect(failure == nil)
      }
      let alone = try hub.open("second")
      try await insert("alone", into: alone)
      try await insert("together", into: first)
      #expect(try names(of: alone) == ["alone", "from the beginning"])
      #expect(try alone.logPosition == nil)
      try requireClean(alone)
      var session = try hub.session()
      let own = try #require(try HubMembership.read(inStore: hub.folder.path("first")))
      #expect(try session.report(on: own).machines.map(\.name) == ["first"])
    }
  }

  @Test func namesAreTakenOnceAndOwnStoresAreKept() async throws {
    try await withHub { hub in
      try await hub.create()
      let other = try hub.open("other")
      try await insert("mine", into: other)
      let taken = await code { _ = try hub.setup("other").create(named: hub.name, other) }
      #expect(taken == .occupied)
      #expect(try HubMembership.read(inStore: hub.folder.path("other")) == nil)
      try await insert("still mine", into: other)
      let occupied = await code {
        _ = try hub.setup("other").join(named: hub.name, opening: hub.options)
      }
      #expect(occupied == .occupied)
      let missing = await code {
        _ = try hub.setup("new").join(named: "no-such-hub", opening: hub.options)
      }
      #expect(missing == .storeMissing)
      #expect(try names(of: other) == ["mine", "still mine"])
      let again = await code {
        _ = try hub.setup("first").create(named: "again", hub.open("first"))
      }
      #expect(again == .occupied)
    }
  }

  @Test func anInterruptedCreationIsCompletedByTheNextRun() async throws {
    struct Interrupt: Error {}
    try await withHub { hub in
      let store = try hub.open("first")
      try await insert("here", into: store)
      #expect(throws: Interrupt.self) {
        _ = try hub.setup("first").create(named: hub.name, store) { _ in throw Interrupt() }
      }
      #expect(await code { _ = try hub.join("second") } == .unreachable)
      _ = try hub.setup("first").create(named: hub.name, store)
      #expect(try names(of: hub.join("second")) == ["here"])
    }
  }

  @Test func anEntryThatWasChangedIsRefused() async throws {
    try await withHub { hub in
      try await hub.create()
      let (first, second) = (try hub.open("first"), try hub.join("second"))
      try await insert("changed on its way", into: first)
      try hub.execute(
        Statement(
          """
          UPDATE mooring.entry SET body = overlay(body placing '\\xff' from 9 for 1)
          WHERE store = $1
          """, .uuid(try hub.identity())))
      #expect(await code { try second.catchUp() } == .damaged)
      #expect(try names(of: second) == ["from the beginning"])
      try requireClean(second)
    }
  }

  @Test func machinesCompareTheirStoresAtOneEntry() async throws {
    try await withHub { hub in
      try await hub.create()
      let (first, second) = (try hub.open("first"), try hub.join("second"))
      _ = try hub.join("away")
      try hub.execute(
        Statement(
          "UPDATE mooring.machine SET seen_at = '2000-01-01' WHERE store = $1 AND name = 'away'",
          .uuid(try hub.identity())))
      try await insert("new", into: first)
      let follower = try HubFollower(second, of: hub.address("second"))
      defer { follower.stop() }
      let log = HubCommitLog(try hub.address("first"))
      let report = try await Task.detached { try log.compareDigests(first) }.value
      #expect(report.entry == 1)
      #expect(report.machines.map(\.name) == ["away", "first", "second"])
      #expect(report.machines.map(\.isEqual) == [false, true, true])
      #expect(report.isEqual)
      let other = try hub.open("other")
      #expect(try other.digest() == nil)
      try await insert("after the comparison", into: second)
      try requireEqual(first, second)
    }
  }

  @Test func anAnswerToAnEarlierComparisonIsNotCounted() async throws {
    try await withHub { hub in
      try await hub.create()
      let (first, second) = (try hub.open("first"), try hub.join("second"))
      let own = try #require(try first.digest())
      let entry = own.position.sequence
      let (earlier, current) = (DigestRequest(at: entry), DigestRequest(at: entry))
      let membership = try hub.address("second").membership
      var session = try hub.session()
      func answers() throws -> [String: Bool] {
        let report = try session.digests(at: entry, own.digest, of: hub.identity()).0
        return Dictionary(uniqueKeysWithValues: report.machines.map { ($0.name, $0.isEqual) })
      }
      try session.requestDigest(earlier, of: hub.identity())
      try session.requestDigest(current, of: hub.identity())
      // It comes late, and may be that of a store which has been changed since.
      try session.answer(earlier, own.digest, of: membership)
      #expect(try answers() == ["first": false, "second": false])
      try session.answer(current, own.digest, of: membership)
      #expect(try answers() == ["first": false, "second": true])
      try requireEqual(first, second)
    }
  }

  @Test func aJoinThatIsKilledAfterTheRestoreCanBeRepeated() async throws {
    try await withHub { hub in
      try await hub.create()
      let first = try hub.open("first")
      try await insert("before the join", into: first)
      let path = hub.folder.path("second")
      // The last step waits for this lock, so that the kill comes after the restore.
      var blocker = try Connection(hub.database, until: .now + .seconds(60))
      try blocker.execute(
        [.begin, "LOCK TABLE mooring.machine IN SHARE MODE"], until: .now + .seconds(60))
      let child = try ChildProcess(
        childExecutable(named: "store-child"),
        ["hub-join", path, "name=\(hub.name)", "machine=second"], environment: hub.environment)
      while !FileManager.default.fileExists(atPath: path + "/data.mdb") { usleep(1_000) }
      try waitUntil(
        """
        SELECT count(*) > 0 FROM pg_locks
        WHERE NOT granted AND relation = 'mooring.machine'::regclass
        """, at: hub.connectionText)
      child.kill()
      try blocker.execute(.rollback, until: .now + .seconds(60))
      #expect(try HubMembership.read(inStore: path) != nil)
      let second = try hub.join("second")
      try await insert("after it", into: second)
      try requireEqual(first, second)
      var session = try hub.session()
      let report = try session.report(on: hub.address("second").membership)
      #expect(report.machines.map(\.name) == ["first", "second"])
    }
  }

  @Test func thisServerCanHoldAHub() async throws {
    try await withHub { hub in
      let findings = try EngineCheck(hub.database).run()
      #expect(findings.count == 5)
      #expect(findings.filter { $0.problem != nil } == [])
      var session = try hub.session()
      #expect(try session.hubNames().filter { $0.hasPrefix("check-") } == [])
    }
  }
}

/// Runs `body` with the store of a machine, as the function for several.
private func usingAlone(
  _ machine: String, of hub: TestHub, isolation: isolated (any Actor)? = #isolation,
  _ body: (Store) async throws -> Void
) async throws {
  try await usingAlone([machine], of: hub) { try await body($0[0]) }
}

extension DispatchSemaphore {
  /// For tasks: a wait there would block a thread of the pool.
  fileprivate func waitForSignal() { wait() }
}
