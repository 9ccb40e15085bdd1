import Foundation
import Mooring

@testable import LegacyImport

/// Imports from a SQLite file with a write-ahead log. The first byte has the size of the file in
/// units of 512, the second one is odd if the checksums of the log are to be corrected, so that
/// changed frames count; the file and the log follow. All rows are read or give an error, and the
/// frames that count are those that count for SQLite.
@_cdecl("fuzz_write_ahead_log")
public func fuzzWriteAheadLog(_ bytes: UnsafePointer<UInt8>?, _ count: Int) {
  guard count > 2 else { return }
  // SAFETY: libFuzzer keeps the `count` bytes until this returns; they are copied.
  let input = Array(UnsafeBufferPointer(start: bytes, count: count))
  let end = min(2 + Int(input[0]) * 512, count)
  let log = Array(input[end...])
  withFolder { folder in
    let path = folder + "/made.sqlite"
    let files = [("", Array(input[2..<end])), ("-wal", input[1] & 1 == 1 ? sealed(log) : log)]
    for (suffix, bytes) in files {
      guard FileManager.default.createFile(atPath: path + suffix, contents: Data(bytes)) else {
        fatalError("no file in \(folder)")
      }
    }
    unlessRefusedByImport {
      try compareFrames(try SourceSnapshot.take(of: path, in: folder))
    }
    for allowsDamage in [false, true] {
      unlessRefusedByImport {
        let snapshot = try SourceSnapshot.take(of: path, in: folder)
        try readRows(try SourceDatabase.open(snapshot, allowsDamage: allowsDamage))
      }
    }
  }
}

private func readRows(_ database: SourceDatabase) throws {
  for table in database.tables where table.isOrdinary {
    unlessRefusedByImport {
      let rows = try database.rows(of: table, columns: table.columns.map(\.name))
      while try rows.next() != nil {}
    }
  }
}

/// Compares with the number of frames that SQLite recovers.
private func compareFrames(_ snapshot: SourceSnapshot) throws {
  guard let log = snapshot.report.writeAheadLog, log.committedFrames > 0 else { return }
  let connection = try SQLiteConnection(path: snapshot.copy, isCancelled: { false })
  _ = try connection.prepare("PRAGMA schema_version").step()
  let checkpoint = try connection.prepare("PRAGMA wal_checkpoint(PASSIVE)")
  guard try checkpoint.step(), checkpoint.integer(1) >= 0 else { return }
  guard checkpoint.integer(1) == log.committedFrames else {
    fatalError("\(log.committedFrames) frames, and SQLite has \(checkpoint.integer(1))")
  }
}

private func unlessRefusedByImport(_ body: () throws -> Void) {
  do {
    try body()
  } catch is ImportError {
    return
  } catch {
    fatalError("an error of another kind: \(error)")
  }
}

/// Gives each frame the salts of the header, and corrects the checksums.
private func sealed(_ bytes: [UInt8]) -> [UInt8] {
  guard bytes.count >= 32 else { return bytes }
  var log = bytes
  var sum = WriteAheadLog.Checksum(isBigEndian: log[3] & 1 == 1)
  func seal(at place: Int) {
    for (offset, part) in [sum.first, sum.second].enumerated() {
      withUnsafeBytes(of: part.bigEndian) {
        log.replaceSubrange((place + 4 * offset)..<(place + 4 * offset + 4), with: $0)
      }
    }
  }
  sum.add(log[0..<24])
  seal(at: 24)
  let pageSize = log[8..<12].reduce(0) { $0 << 8 | Int($1) }
  guard pageSize >= 512, pageSize <= 65_536, pageSize % 8 == 0 else { return log }
  for start in stride(from: 32, to: log.count, by: 24 + pageSize)
  where start + 24 + pageSize <= log.count {
    log.replaceSubrange((start + 8)..<(start + 16), with: log[16..<24])
    sum.add(log[start..<(start + 8)])
    sum.add(log[(start + 24)..<(start + 24 + pageSize)])
    seal(at: start + 16)
  }
  return log
}
