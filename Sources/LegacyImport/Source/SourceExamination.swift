import EntityModel
import Foundation

/// Examines the copied files, before SQLite opens them.
struct SourceExamination {
  let source: String
  let copies: SourceCopies
  private(set) var notes: [String] = []
  private(set) var warnings: [String] = []

  /// Returns a report and the fault of the header, if it has one. Removes from the copies the name
  /// of another file that SQLite would open.
  mutating func examine() throws -> (SourceReport, SourceFault?) {
    guard let main = try SourceFile.open(copies.main.path) else {
      throw ImportError(
        .missing, "the copy of the file no longer exists", [("path", copies.main.path)])
    }
    let start = try main.bytes(at: 0, count: DatabaseHeader.byteCount)
    let header = DatabaseHeader(start)
    let log = try examineLog(header)
    let hasHotJournal = try examineJournal()
    let recovers = log?.committedFrames ?? 0 > 0 || hasHotJournal
    if start.isEmpty {
      notes.append("the file is empty: a valid database without tables")
    }
    let fault = HeaderFault(
      source: source, bytes: copies.main.bytes, start: start, recovers: recovers,
      hasLog: log != nil
    ).find()
    let report = SourceReport(
      source: source, bytes: copies.main.bytes, fingerprint: try fingerprint(),
      header: header, writeAheadLog: log, hasHotJournal: hasHotJournal, notes: notes,
      warnings: warnings.map(\.onOneLine))
    return (report, fault)
  }

  /// Returns the fingerprint of all files: the last changes may be in the log alone.
  private func fingerprint() throws -> String {
    let others = [copies.writeAheadLog, copies.journal].compactMap { $0?.fingerprint }
    if others.isEmpty { return copies.main.fingerprint }
    let whole = try Fingerprint()
    for part in [copies.main.fingerprint] + others { whole.add(Array(part.utf8)) }
    return whole.finish()
  }

  private mutating func examineLog(_ header: DatabaseHeader?) throws -> WriteAheadLog? {
    guard let copy = copies.writeAheadLog, let file = try SourceFile.open(copy.path) else {
      if let header, header.usesWriteAheadLog {
        notes.append(
          "the file is in WAL mode and has no -wal, as after a clean close; if it was copied from "
            + "elsewhere, copy its -wal as well, or the last changes are missing")
        try lookForRenamedLog(header)
      }
      return nil
    }
    let log = try WriteAheadLog(file)
    describe(log, copy.bytes, header)
    return log
  }

  private mutating func describe(_ log: WriteAheadLog, _ bytes: Int64, _ header: DatabaseHeader?) {
    guard bytes > 0 else {
      warnings.append(
        "the -wal is empty: either all of it is in the main file, or the last changes were lost")
      return
    }
    let uncommitted = log.validFrames - log.committedFrames
    switch log.end {
    case .file, .olderFrames: break
    case .torn:
      warnings.append(
        "the -wal ends within frame \(log.frames): its last transaction is torn and is left out")
    case .badChecksum:
      warnings.append(
        "frame \(log.validFrames + 1) of the -wal is damaged: it and what follows, "
          + "\(log.lostFrames) frames, are left out")
    case .badHeader:
      warnings.append(
        "the header of the -wal is damaged: none of its \(bytes) bytes are read, and the last "
          + "changes are missing")
    }
    if uncommitted > 0 {
      notes.append(
        "\(uncommitted) frames of the -wal belong to a transaction that was never committed")
    }
    if copies.main.bytes == 0 {
      warnings.append("the main file is empty, so SQLite ignores its -wal: the file was lost")
    } else if let header, !log.fits(header) {
      warnings.append(
        "the -wal seems to be of another file: its change counter or page size does not fit; what "
          + "is read may be that file's")
    }
  }

  /// Warns of a log that a renamed file has left under its old name. In a folder that cannot
  /// be listed nothing is found.
  private mutating func lookForRenamedLog(_ header: DatabaseHeader) throws {
    let folder = source[..<(source.lastIndex(of: "/") ?? source.startIndex)] + "/"
    guard let names = try? FileManager.default.contentsOfDirectory(atPath: String(folder)) else {
      return
    }
    for name in names.sorted().prefix(Self.namesMax) where name.hasSuffix("-wal") {
      let path = folder + name
      guard !FileManager.default.fileExists(atPath: String(path.dropLast(4))),
        let file = try SourceFile.open(String(path)), try file.byteCount() > 0
      else { continue }
      let log = try WriteAheadLog(file)
      guard log.committedFrames > 0, log.fits(header) else { continue }
      warnings.append(
        "\(name) lies beside it without its file and may belong to this one: if so, rename it as "
          + "well, or its \(log.committedFrames) frames are missing")
    }
  }

  private static let namesMax = 10_000

  private mutating func examineJournal() throws -> Bool {
    guard let copy = copies.journal, copy.bytes > 0,
      let file = try SourceFile.open(copy.path)
    else { return false }
    let journal = try RollbackJournal(file)
    var isHot = journal.state == .hot && copies.main.bytes > 0
    if journal.superJournal != nil, try !journal.disarm(copy: copy.path), isHot {
      isHot = false
      warnings.append(
        "the -journal belongs to a transaction over several files whose common journal is gone: it "
          + "is taken for committed")
    }
    if isHot {
      notes.append("the -journal is hot: the transaction under way is rolled back in the copy")
    } else if journal.state == .badHeader {
      warnings.append(
        "the header of the -journal is damaged: a transaction that was under way is not rolled back"
      )
    }
    return isHot
  }
}

/// The result of examining a legacy file.
package struct SourceReport: Sendable {
  /// The path of the file, with symbolic links resolved.
  package let source: String
  package let bytes: Int64
  /// The XXH3-128 hash, in hexadecimal, of the main file and, if they exist, its `-wal` and its
  /// `-journal`. It distinguishes states of the file and does not protect against forgery.
  package let fingerprint: String
  /// The header; `nil` for an empty file, which is a valid empty database, and for a damaged
  /// header.
  package let header: DatabaseHeader?
  /// The log; `nil` if there is no `-wal` beside the file.
  let writeAheadLog: WriteAheadLog?
  /// True if the `-journal` has a transaction under way, whose changes are rolled back in the copy.
  package let hasHotJournal: Bool
  /// The findings of SQLite's quick check, at most ten lines. Set by ``SourceDatabase``.
  package var findings: [String] = []
  /// Facts that are normal and good to know, each on one line.
  package var notes: [String]
  /// Problems that may have cost rows, each on one line.
  package var warnings: [String]
}
