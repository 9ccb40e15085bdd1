import Foundation
import TestSupport
import Testing

@testable import LegacyImport

struct HeaderTests {
  private func made(_ sql: String) throws -> [UInt8] {
    try withTemporaryFolder { folder in
      let path = folder.path("made.sqlite")
      try MadeDatabase.make(at: path, sql)
      return Array(try Data(contentsOf: URL(filePath: path)))
    }
  }

  @Test func theHeaderIsWhatSQLiteWrote() throws {
    let bytes = try made(
      """
      PRAGMA page_size = 65536; PRAGMA encoding = 'UTF-16le'; PRAGMA journal_mode = WAL;
      CREATE TABLE t (a);
      """)
    let header = try #require(DatabaseHeader(bytes))
    #expect(header.pageSize == 65_536 && header.textEncoding == .utf16LittleEndian)
    #expect(header.usesWriteAheadLog && header.pageCount == 2)
    #expect(fault(bytes) == nil)
  }

  @Test func problemsAreNamedAndRepaired() throws {
    let bytes = try made("CREATE TABLE t (a); INSERT INTO t VALUES (1)")
    #expect(fault(Array(bytes.prefix(99)))?.error.code == .truncated)
    #expect(fault(Array(bytes.prefix(99)))?.patches == [])
    let cut = fault(Array(bytes.prefix(4096)))
    #expect(cut?.error.code == .truncated)
    #expect(cut?.patches == [SourceFault.Patch(offset: 28, bytes: [0, 0, 0, 1])])
    #expect(fault([0, 0, 0] + bytes.dropFirst(3))?.patches.first?.bytes == DatabaseHeader.magic)
    // A log or a journal makes a short file whole.
    let recovering = HeaderFault(
      source: "", bytes: 4096, start: Array(bytes.prefix(100)), recovers: true, hasLog: true)
    #expect(recovering.find() == nil)
  }

  private func fault(_ bytes: [UInt8]) -> SourceFault? {
    HeaderFault(
      source: "", bytes: Int64(bytes.count), start: Array(bytes.prefix(100)), recovers: false,
      hasLog: false
    ).find()
  }

  @Test func mutatedHeadersNeverTrap() throws {
    let whole = try made("CREATE TABLE t (a)")
    var random = SeededRandom(seed: 2)
    for round in 0..<5_000 {
      var bytes = Array(whole.prefix(512))
      for _ in 0..<Int.random(in: 1...12, using: &random) {
        bytes[Int.random(in: 0..<100, using: &random)] = UInt8.random(in: 0...255, using: &random)
      }
      bytes.removeLast(Int.random(in: 0...bytes.count, using: &random))
      let size =
        Int64.random(in: 0...Int64.max, using: &random) >> Int64.random(in: 0..<63, using: &random)
      let found = HeaderFault(
        source: "", bytes: size, start: Array(bytes.prefix(100)), recovers: false,
        hasLog: round % 2 == 0
      ).find()
      #expect(found?.patches.allSatisfy { $0.offset < 100 } ?? true, "seed 2, round \(round)")
      if Likeness(bytes, byteCount: size) == .encrypted { #expect(size % 512 == 0) }
    }
  }
}
