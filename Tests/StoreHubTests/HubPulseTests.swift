import Dispatch
import Foundation
import PostgreSQL
import PostgreSQLTestSupport
import SystemSupport
import TestSupport
import Testing

@testable import EntityStore
@testable import StoreHub

/// The work of a process in a hub every two seconds.
@Suite(
  .enabled(if: PostgreSQLServer.canRun, "\(PostgreSQLServer.skipReason)"), .timeLimit(.minutes(5)))
struct HubPulseTests {
  @Test func heldLocksAreRenewedAndReleasedOnesAreNot() async throws {
    try await withHub { hub in
      try await hub.create()
      let locks = HubLocks(try hub.address("first"))
      let (held, released) = (
        try #require(try locks.take("held")), try #require(try locks.take("released"))
      )
      for name in ["held", "released"] { try hub.setEnd(of: name, to: "now() + interval '1 hour'") }
      released.release()
      for condition in ["until < now() + interval '30 minutes'", "until > now() + interval '9 s'"] {
        try waitUntil(hub.condition(on: "held", condition), at: hub.connectionText)
      }
      var session = try hub.session()
      #expect(
        try session.rows(hub.condition(on: "released", "until > '-infinity'")) { try $0.bool(0) }
          == [nil])
      held.release()
    }
  }

  @Test func commitsAreLookedForUntilNobodyObserves() async throws {
    try await withHub { hub in
      try await hub.create()
      let pulse = HubLocks(try hub.address("first")).pulse
      let (looks, continuation) = AsyncStream<Void>.makeStream()
      let stop = pulse.pollTimer.start(DispatchQueue(label: "unused")) { continuation.yield() }
      for await _ in looks.prefix(2) {}
      #expect(pulse.isBeating)
      stop()
      while pulse.isBeating { try await Task.sleep(for: .milliseconds(10)) }
    }
  }
}

extension TestHub {
  fileprivate func setEnd(of lock: String, to time: String) throws {
    try execute(
      Statement(
        "UPDATE mooring.lock SET until = \(time) WHERE store = $1 AND name = $2",
        .uuid(try identity()), .text(lock)))
  }

  fileprivate func condition(on lock: String, _ condition: String) throws -> Statement {
    Statement(
      "SELECT (SELECT \(condition) FROM mooring.lock WHERE store = $1 AND name = $2)",
      .uuid(try identity()), .text(lock))
  }
}
