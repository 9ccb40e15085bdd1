import EntityStore
import Foundation
import Glibc
import LMDB
import Maintenance
import PostgreSQL
import SystemSupport

/// The progress of the copy of a store to or from its hub, in bytes.
package struct SnapshotProgress: Hashable, Sendable {
  package let bytes: Int
  package let total: Int
}

/// The size of the parts of a snapshot, and the number of those that are sent together.
enum SnapshotPart {
  static let bytesMax = 1 << 20
  static let together = 8
}

extension HubSession {
  /// Copies a store into its hub, from where other machines can take it.
  ///
  /// The copy is the last commit of the store, while others read and write it. A copy that is
  /// interrupted stays incomplete and is never used; `trim` removes it.
  ///
  /// - Parameter store: A store with a position in the log of the hub.
  /// - Returns: The position of the copy.
  /// - Throws: The errors of `Store.backUp`; `StorageError` with `.unreachable`; the errors of
  ///   `progress`.
  @discardableResult
  mutating func upload(
    _ store: Store, to hub: UUID, progress: (SnapshotProgress) throws -> Void
  ) throws -> LogPosition {
    let scratch = try ScratchFolder.create(prefix: "mooring-hub-", in: nil)
    let folder = scratch.path + "/snapshot"
    try store.backUp(to: folder, compacting: true)
    let position = try Self.position(ofStoreIn: folder)
    let path = folder + "/data.mdb"
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else {
      throw StorageError.system(
        SystemError(), "the copy of the store cannot be read", context: [("path", path)])
    }
    defer { close(file) }
    var status = stat()
    fstat(file, &status)
    let id = UUID()
    try execute([
      Statement(
        """
        INSERT INTO mooring.snapshot (store, id, seq, bytes, is_complete, made_at)
        VALUES ($1, $2, $3, $4, false, clock_timestamp())
        """, .uuid(hub), .uuid(id), .int8(Int64(clamping: position.sequence)),
        .int8(Int64(status.st_size)))
    ])
    var (number, bytes) = (0, 0)
    while bytes < Int(status.st_size) {
      var statements: [Statement] = []
      while statements.count < SnapshotPart.together,
        let part = try Self.nextPart(of: file, path)
      {
        statements.append(Self.insertion(of: part, number: number, id: id, hub: hub))
        number += 1
        bytes += part.count
      }
      guard !statements.isEmpty else { break }
      try execute(statements)
      try progress(SnapshotProgress(bytes: bytes, total: Int(status.st_size)))
    }
    try execute([
      Statement(
        "UPDATE mooring.snapshot SET is_complete = true WHERE store = $1 AND id = $2", .uuid(hub),
        .uuid(id))
    ])
    return position
  }

  private static func position(ofStoreIn folder: String) throws -> LogPosition {
    var options = Environment.Options()
    options.access = .readOnly
    let environment = try Environment.open(at: folder, options: options)
    guard let position = try environment.read({ try environment.logPosition(in: $0) }) else {
      throw StorageError(
        .programming, "the store has no position in the log of its hub",
        context: [("path", folder)], advice: "report this as a bug")
    }
    return position
  }

  private static func nextPart(of file: Int32, _ path: String) throws(StorageError) -> [UInt8]? {
    do throws(SystemError) {
      let part = try BoundedFile.read(file, bytesMax: SnapshotPart.bytesMax - 1)
      return part.isEmpty ? nil : part
    } catch {
      throw .system(error, "the copy of the store cannot be read", context: [("path", path)])
    }
  }

  private static func insertion(
    of part: [UInt8], number: Int, id: UUID, hub: UUID
  ) -> Statement {
    Statement(
      "INSERT INTO mooring.snapshot_part (store, id, part, body) VALUES ($1, $2, $3, $4)",
      .uuid(hub), .uuid(id), .int4(Int32(clamping: number)), .bytes(part))
  }
}
