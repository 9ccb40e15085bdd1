import EntityModel
import EntityStore
import Foundation
import PostgreSQL
import PostgreSQLTestSupport
import SystemSupport
import TestSupport
import Testing

@testable import StoreHub

@Suite(
  .enabled(if: PostgreSQLServer.canRun, "\(PostgreSQLServer.skipReason)"), .timeLimit(.minutes(5)))
struct HubLockTests {
  @Test func aLockIsHadByOneMachineUntilItIsReleased() async throws {
    try await withHub { hub in
      try await hub.create()
      let (first, second) = (try locks(of: "a", in: hub), try locks(of: "b", in: hub))
      let lock = try #require(try first.take("sync-1"))
      #expect(try second.take("sync-1") == nil)
      let time = try #require(try second.timeHeldElsewhere("sync-1"))
      #expect(time > .zero && time <= HubLocks.duration)
      #expect(try !first.isHeldElsewhere("sync-1"))
      #expect(try second.take("sync-2") != nil)
      lock.release()
      #expect(try !second.isHeldElsewhere("sync-1"))
      #expect(try second.take("sync-1") != nil)
    }
  }

  /// The taker has the kernel lock in the folder, so the other process is dead.
  @Test func aLockOfThisMachineIsTakenOverAtOnce() async throws {
    try await withHub { hub in
      try await hub.create()
      let membership = HubMembership(
        hub: try hub.identity(), machineName: "a", name: hub.name, service: nil)
      let address = HubAddress(database: try hub.database, membership: membership)
      let (dead, alive) = (HubLocks(address), HubLocks(address))
      let lock = try #require(try dead.take("runner-7"))
      let taken = try #require(try alive.take("runner-7"))
      lock.release()
      #expect(alive.heldNames == ["runner-7"])
      #expect(try locks(of: "b", in: hub).isHeldElsewhere("runner-7"))
      taken.release()
    }
  }

  @Test func aLockOfADeadMachineIsTakenWhenItsTimeIsOver() async throws {
    try await withHub { hub in
      try await hub.create()
      let (first, second) = (try locks(of: "a", in: hub), try locks(of: "b", in: hub))
      let lock = try #require(try first.take("import-x"))
      try hub.lapse("import-x")
      let taken = try #require(try second.take("import-x"))
      // It is not the first one's to release any more.
      lock.release()
      #expect(try first.isHeldElsewhere("import-x"))
      taken.release()
    }
  }

  @Test func aProcessThatHasLostALockMayNotWrite() async throws {
    try await withHub { hub in
      try await hub.create()
      let store = try hub.open("first")
      let lock = try #require(try store.options.sharedLocks.take("sync-1"))
      try await insert("with the lock", into: store)
      try hub.lapse("sync-1")
      let taken = try #require(try locks(of: "b", in: hub).take("sync-1"))
      #expect(await code { try await insert("too late", into: store) } == .busy)
      lock.release()
      try await insert("without it", into: store)
      #expect(try names(of: store) == ["from the beginning", "with the lock", "without it"])
      taken.release()
    }
  }

  @Test func notesOutliveTheLock() async throws {
    try await withHub { hub in
      try await hub.create()
      let (first, second) = (try locks(of: "a", in: hub), try locks(of: "b", in: hub))
      let lock = try #require(try first.take("sync-1"))
      let note = SharedNote("17 ended", at: Date(timeIntervalSince1970: 1_700_000_000.25))
      lock.leave(note)
      lock.release()
      #expect(second.note(of: "sync-1") == note)
      #expect(second.note(of: "sync-2") == nil)
    }
  }

  @Test func machinesTakeTurnsAtAHost() async throws {
    try await withHub { hub in
      try await hub.create()
      let (first, second) = (try locks(of: "a", in: hub), try locks(of: "b", in: hub))
      let waits = try [first, second, first, second].map {
        try $0.reserveTurn("host:example.org", spacing: .seconds(60))
      }
      for (number, wait) in waits.enumerated() {
        #expect(wait > .seconds(60 * number - 5) && wait <= .seconds(60 * number))
      }
      #expect(try first.reserveTurn("host:example.com", spacing: .seconds(60)) == .zero)
    }
  }

  private func locks(of machine: String, in hub: TestHub) throws -> HubLocks {
    let membership = HubMembership(
      hub: try hub.identity(), machineName: machine, name: hub.name, service: nil)
    return HubLocks(HubAddress(database: try hub.database, membership: membership))
  }
}
