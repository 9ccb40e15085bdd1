package import EntityStore
package import Foundation
import LMDB
import PostgreSQL
import SystemSupport

/// The result of a trim.
package struct TrimReport: Codable, Hashable, Sendable {
  /// The number of the last entry that the new snapshot has.
  package let snapshot: UInt64
  /// The oldest entry that the log still has.
  package let firstEntry: UInt64
  /// The number of entries that were removed.
  package let entriesRemoved: Int
}

extension HubSession {
  /// The snapshots that are kept. A machine that joins reads the newest; the log begins after the
  /// older one, so that a machine that was away for a while finds the entries that it lacks.
  private static let snapshotsKept = 2
  /// The entries that one statement removes.
  private static let entriesTogether: UInt64 = 1_000

  /// Copies the store into its hub, and removes the entries and snapshots that are no longer
  /// needed. Machines that lack removed entries have to join again.
  ///
  /// - Throws: The errors of `upload`.
  package mutating func trim(
    _ store: Store, of hub: UUID, progress: (SnapshotProgress) throws -> Void = { _ in }
  ) throws -> TrimReport {
    let position = try upload(store, to: hub, progress: progress)
    let kept = try snapshots(of: hub).prefix(Self.snapshotsKept)
    let first = (kept.last?.sequence ?? 0) + 1
    let oldest =
      try rows(
        Statement("SELECT first_seq FROM mooring.store WHERE id = $1", .uuid(hub))
      ) { try $0.sequence(0) }.first ?? 1
    if first > oldest {
      // First of all, so that nobody looks for an entry that is gone.
      try execute([
        Statement(
          "UPDATE mooring.store SET first_seq = $2 WHERE id = $1 AND first_seq < $2", .uuid(hub),
          .int8(Int64(clamping: first)))
      ])
      var next = oldest
      while next < first {
        next = min(first, next + Self.entriesTogether)
        try execute([
          Statement(
            "DELETE FROM mooring.entry WHERE store = $1 AND seq < $2", .uuid(hub),
            .int8(Int64(clamping: next)))
        ])
      }
    }
    try removeSnapshots(of: hub, except: kept.map(\.id))
    return TrimReport(
      snapshot: position.sequence, firstEntry: max(first, oldest),
      entriesRemoved: Int(max(first, oldest) - oldest))
  }

  /// Removes the other complete snapshots, and those whose copy was interrupted a day ago.
  private mutating func removeSnapshots(
    of hub: UUID, except kept: [UUID]
  ) throws(StorageError) {
    let old = try rows(
      Statement(
        """
        SELECT id FROM mooring.snapshot WHERE store = $1
        AND (is_complete OR made_at < clock_timestamp() - interval '1 day')
        """, .uuid(hub))
    ) { try $0.uuid(0) }
    for case let id? in old where !kept.contains(id) {
      try execute(
        ["snapshot", "snapshot_part"].map {
          Statement("DELETE FROM mooring.\($0) WHERE store = $1 AND id = $2", .uuid(hub), .uuid(id))
        })
    }
  }
}
