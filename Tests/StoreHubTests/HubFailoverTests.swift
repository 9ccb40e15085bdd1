import EntityModel
import EntityStore
import Foundation
import PostgreSQL
import PostgreSQLTestSupport
import SystemSupport
import TestSupport
import Testing

@testable import StoreHub

/// Real servers of which the primary dies and the standby is promoted.
@Suite(
  .serialized, .enabled(if: PostgreSQLServer.canRun, "\(PostgreSQLServer.skipReason)"),
  .timeLimit(.minutes(30)))
struct HubFailoverTests {
  @Test func failoversToASynchronousStandbyLoseNothing() async throws {
    let failovers = isThorough ? 50 : 2
    var random = SeededRandom(seed: testSeed(84))
    let servers = try ReplicatedServer()
    defer { servers.stop() }
    // Later standbys copy the setting.
    for server in [servers.primary, servers.standby] {
      try execute(
        "ALTER SYSTEM SET synchronous_standby_names = '*'", "SELECT pg_reload_conf()",
        at: server.connectionText)
    }
    try await withHub(at: servers.connectionText) { hub in
      try await hub.create()
      let stores = [try hub.open("first"), try hub.join("second")]
      let writers = stores.enumerated().map { Writer(name: "m\($0)", store: $1) }
      let tasks = writers.map { writer in Task { await writer.run() } }
      for _ in 0..<failovers {
        for writer in writers { await writer.waitForMore(random.number(2...6)) }
        // Within a commit or between two.
        try await Task.sleep(for: .milliseconds(random.number(0...30)))
        servers.killPrimary()
        try execute("SELECT pg_promote()", at: servers.standby.connectionText)
        try servers.replaceStandby()
      }
      for writer in writers { await writer.waitForMore(3) }
      for writer in writers { writer.stop() }
      for task in tasks { await task.value }
      try requireSame(stores)
      try requireOnce(writers, in: stores[0])
      print("\(failovers) failovers, seed \(random.seed): \(writers.map(\.summary))")
    }
  }

  @Test func aLossyFailoverIsNoticedByTheMachinesThatWereAhead() async throws {
    let servers = try ReplicatedServer()
    defer { servers.stop() }
    try await withHub(at: servers.connectionText) { hub in
      try await hub.create()
      _ = try hub.join("second")
      let third = try hub.join("third")
      try await usingAlone(["first", "second"], of: hub) { stores in
        try await insert("kept", into: stores[0])
        try third.catchUp()
        try stores[1].catchUp()
        try waitUntil(
          "SELECT bool_and(replay_lsn = pg_current_wal_lsn()) FROM pg_stat_replication",
          at: servers.primary.connectionText)
        let standby = servers.standby.connectionText
        try execute(
          "ALTER SYSTEM SET primary_conninfo = ''", "SELECT pg_reload_conf()", at: standby)
        try waitUntil("SELECT count(*) = 0 FROM pg_stat_wal_receiver", at: standby)
        try await insert("lost 1", into: stores[0])
        try stores[1].catchUp()
        try await insert("lost 2", into: stores[0])
        servers.killPrimary()
        try execute("SELECT pg_promote()", at: standby)
        // The third has as many entries in the end, but others.
        for number in 0..<2 { try await insert("after \(number)", into: third) }
        for store in stores {
          #expect(await code { try await insert("refused", into: store) } == .diverged)
          #expect(await code { try store.catchUp() } == .diverged)
        }
        try await insert("after 2", into: third)
        for store in stores {
          #expect(await code { try await insert("refused", into: store) } == .diverged)
        }
      }
      for machine in ["first", "second"] {
        let joined = try hub.setup(machine).join(named: hub.name, opening: hub.options)
        let kept = try #require(joined.replacedFile)
        #expect(FileManager.default.fileExists(atPath: kept))
      }
      try requireSame([third, try hub.open("first"), try hub.open("second")])
      #expect(
        try names(of: third) == ["after 0", "after 1", "after 2", "from the beginning", "kept"])
    }
  }
}
