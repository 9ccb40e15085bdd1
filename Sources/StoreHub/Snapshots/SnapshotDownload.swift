import Foundation
import Glibc
import PostgreSQL
import SystemSupport

/// A complete copy of a store in its hub.
struct Snapshot: Sendable {
  let id: UUID
  /// The number of the last entry that the copy has.
  let sequence: UInt64
  let bytes: Int
  let madeAt: Date
}

extension HubSession {
  /// Returns the complete copies of a hub, newest first.
  mutating func snapshots(of hub: UUID) throws(StorageError) -> [Snapshot] {
    try rows(
      Statement(
        """
        SELECT id, seq, bytes, extract(epoch FROM made_at)::float8 FROM mooring.snapshot
        WHERE store = $1 AND is_complete ORDER BY seq DESC, made_at DESC
        """, .uuid(hub))
    ) { row in
      Snapshot(
        id: try row.uuid(0) ?? UUID(), sequence: try row.sequence(1),
        bytes: Int(try row.int8(2) ?? 0),
        madeAt: Date(timeIntervalSince1970: try row.double(3) ?? 0))
    }
  }

  /// Writes a copy into a new file, which is flushed when this returns.
  ///
  /// - Throws: `StorageError` with `.unreachable`; with `.damaged` if parts are missing; of the
  ///   system; the errors of `progress`.
  mutating func download(
    _ snapshot: Snapshot, of hub: UUID, to path: String,
    progress: (SnapshotProgress) throws -> Void
  ) throws {
    let file: Int32
    do throws(SystemError) {
      file = try FolderFile.open(path, .createNew)
    } catch {
      throw StorageError.system(error, "the copy cannot be created", context: [("path", path)])
    }
    defer { close(file) }
    var (number, bytes) = (0, 0)
    while bytes < snapshot.bytes {
      let parts = try rows(
        Statement(
          """
          SELECT body FROM mooring.snapshot_part
          WHERE store = $1 AND id = $2 AND part >= $3 AND part < $4 ORDER BY part
          """, .uuid(hub), .uuid(snapshot.id), .int4(Int32(clamping: number)),
          .int4(Int32(clamping: number + SnapshotPart.together)))
      ) { try $0.bytes(0) ?? [] }
      for part in parts {
        try Self.append(part, to: file, path)
        bytes += part.count
      }
      number += parts.count
      guard !parts.isEmpty, bytes <= snapshot.bytes else {
        throw StorageError(
          .damaged, "the hub has a copy of the store with missing parts",
          context: [("entry", String(snapshot.sequence))],
          advice: "run `mooring hub trim` on a machine of the hub, and try again")
      }
      try progress(SnapshotProgress(bytes: bytes, total: snapshot.bytes))
    }
    guard fsync(file) == 0 else {
      throw StorageError.system(
        SystemError(), "the copy cannot be flushed", context: [("path", path)])
    }
  }

  private static func append(
    _ part: [UInt8], to file: Int32, _ path: String
  ) throws(StorageError) {
    var rest = part[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
      if count > 0 {
        rest.removeFirst(count)
      } else if errno != EINTR {
        throw .system(SystemError(), "the copy cannot be written", context: [("path", path)])
      }
    }
  }
}
