import Foundation
import Glibc

/// The copies of the files of one database.
struct SourceCopies {
  struct File: Hashable {
    let path: String
    let bytes: Int64
    let fingerprint: String
  }

  var main: File
  var writeAheadLog: File?
  var journal: File?
}

/// Copies files that another program may be writing.
///
/// A copy is complete if nothing about the files has changed while they were copied. Modification
/// times are coarse: if a file was modified a moment ago, all of it is read a second time and must
/// be the same. Then each byte was the same at two times, and the copy is the state of the disk
/// between the two readings, from which SQLite recovers as after a crash.
struct SourceCopier {
  let source: String
  let folder: String
  let isCancelled: () -> Bool

  func copyUntilStable() throws -> SourceCopies {
    for attempt in 0..<Limits.copyAttemptsMax {
      if attempt > 0 { usleep(10_000 << UInt32(attempt)) }
      if let copies = try copyOnce() { return copies }
    }
    throw ImportError(
      .busy, "the file changes while it is copied",
      [("path", source), ("attempts", String(Limits.copyAttemptsMax))],
      advice: "stop the program that writes it, or try again when it does less")
  }

  /// - Returns: `nil` if the files changed during the copy.
  private func copyOnce() throws -> SourceCopies? {
    let before = try stamps()
    try checkSpace(before)
    guard let main = try copy("") else { return nil }
    let copies = SourceCopies(
      main: main, writeAheadLog: try copy("-wal"), journal: try copy("-journal"))
    guard try stamps() == before else { return nil }
    guard before.contains(where: { $0?.isRecent ?? false }) else { return copies }
    guard try fingerprint("") == main.fingerprint,
      try fingerprint("-wal") == copies.writeAheadLog?.fingerprint,
      try fingerprint("-journal") == copies.journal?.fingerprint, try stamps() == before
    else { return nil }
    return copies
  }

  private func stamps() throws -> [SourceStamp?] {
    try ["", "-wal", "-journal"].map { try SourceFile.open(source + $0)?.stamp() }
  }

  /// Checks that there is space for the copy and for what recovery writes into it.
  private func checkSpace(_ stamps: [SourceStamp?]) throws {
    let needed = stamps.reduce(Int64(16 << 20)) { sum, stamp in
      sum.addingReportingOverflow((stamp?.bytes ?? 0) / 10 * 11).partialValue
    }
    var status = statvfs()
    guard statvfs(folder, &status) == 0 else { return }
    let free = Int64(clamping: UInt64(status.f_bavail)) &* Int64(clamping: UInt64(status.f_frsize))
    guard free >= needed else {
      throw ImportError(
        .noSpace, "there is no space for a copy of the file",
        [("folder", folder), ("bytes needed", String(needed)), ("bytes free", String(free))],
        advice: "set TMPDIR to a folder on a larger disk")
    }
  }

  private func copy(_ suffix: String) throws -> SourceCopies.File? {
    let path = folder + "/source.sqlite" + suffix
    unlink(path)
    guard let file = try SourceFile.open(source + suffix) else { return nil }
    let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw unwritable(path) }
    defer { close(descriptor) }
    let (bytes, fingerprint) = try read(file) { piece in
      try write(piece, to: descriptor, path: path)
    }
    return SourceCopies.File(path: path, bytes: bytes, fingerprint: fingerprint)
  }

  private func fingerprint(_ suffix: String) throws -> String? {
    guard let file = try SourceFile.open(source + suffix) else { return nil }
    return try read(file) { _ in }.fingerprint
  }

  private func read(
    _ file: borrowing SourceFile, _ body: ([UInt8]) throws -> Void
  ) throws -> (bytes: Int64, fingerprint: String) {
    let hash = try Fingerprint()
    var offset: Int64 = 0
    while true {
      if isCancelled() { throw CancellationError() }
      let piece = try file.bytes(at: offset, count: Self.pieceBytes)
      hash.add(piece)
      try body(piece)
      offset += Int64(piece.count)
      if piece.count < Self.pieceBytes { break }
    }
    return (offset, hash.finish())
  }

  private static let pieceBytes = 1 << 20

  private func write(_ bytes: [UInt8], to descriptor: Int32, path: String) throws(ImportError) {
    var written = 0
    while written < bytes.count {
      // SAFETY: the place lies within the array, which outlives the call.
      let count = bytes.withUnsafeBytes {
        Glibc.write(descriptor, $0.baseAddress! + written, bytes.count - written)
      }
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw unwritable(path) }
      written += count
    }
  }

  private func unwritable(_ path: String) -> ImportError {
    let code = errno
    return ImportError(
      code == ENOSPC || code == EDQUOT ? .noSpace : .unreadable, "the copy cannot be written",
      [("path", path), ("system", String(cString: strerror(code)))],
      advice: "set TMPDIR to a folder on a larger disk")
  }
}

extension SourceStamp {
  /// True if a later change could have the same time: the clock of files ticks in milliseconds, on
  /// some file systems in seconds.
  fileprivate var isRecent: Bool { time(nil) - modifiedSeconds <= 2 }
}
