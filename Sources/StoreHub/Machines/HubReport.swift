package import EntityStore
package import Foundation
import LMDB
import PostgreSQL
package import SystemSupport

/// The machines of a hub and the state of its log.
package struct HubReport: Codable, Hashable, Sendable {
  package struct Machine: Codable, Hashable, Sendable {
    package let id: UUID
    package let name: String
    /// The newest entry that the machine was seen to have.
    package let entry: UInt64
    /// The entries that it lacked then.
    package let missing: UInt64
    /// The seconds since it was seen.
    package let seenSecondsAgo: Double
    package let program: String
    /// True for the machine that reports.
    package let isThis: Bool
  }

  package let name: String
  package let hub: UUID
  /// The number of the newest entry.
  package let newestEntry: UInt64
  package let oldestEntry: UInt64
  /// The entries of the snapshots, newest first.
  package let snapshots: [UInt64]
  package let machines: [Machine]
}

extension Store {
  /// The number of the newest entry of its hub that the store has; 0 for none.
  package var newestHubEntry: UInt64 { get throws { try logPosition?.sequence ?? 0 } }
}

extension HubSession {
  /// Returns the state of a hub.
  ///
  /// - Throws: `StorageError` with `.unreachable`.
  package mutating func report(on membership: HubMembership) throws(StorageError) -> HubReport {
    let hub = Parameter.uuid(membership.hub)
    let head = try rows(
      Statement("SELECT name, seq, first_seq FROM mooring.store WHERE id = $1", hub)
    ) { (try $0.text(0) ?? "", try $0.sequence(1), try $0.sequence(2)) }.first
    guard let (name, newest, oldest) = head else {
      throw StorageError(
        .needsCommitLog, "the database does not have the hub of this store",
        context: [("hub", membership.name)], advice: "check the name of the database")
    }
    let machines = try rows(
      Statement(
        """
        SELECT id, name, seq, extract(epoch FROM clock_timestamp() - seen_at)::float8, program
        FROM mooring.machine WHERE store = $1 ORDER BY name, id
        """, hub)
    ) { row in
      let (id, entry) = (try row.uuid(0) ?? UUID(), try row.sequence(2))
      return HubReport.Machine(
        id: id, name: try row.text(1) ?? "", entry: entry,
        missing: newest > entry ? newest - entry : 0, seenSecondsAgo: try row.double(3) ?? 0,
        program: try row.text(4) ?? "", isThis: id == membership.machine)
    }
    return HubReport(
      name: name, hub: membership.hub, newestEntry: newest, oldestEntry: oldest,
      snapshots: try snapshots(of: membership.hub).map(\.sequence), machines: machines)
  }
}
