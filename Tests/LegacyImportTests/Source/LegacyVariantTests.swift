import Foundation
import LegacyImport
import TestSupport
import Testing

/// The collected stores and their hostile variants, compared with SQLite's results for a copy of
/// each.
struct LegacyVariantTests {
  private struct Observed: Decodable {
    struct Copy: Decodable {
      var schema: String?
      var tables: [String: Rows]?
    }

    /// A number, or a text with the number of rows before the damage.
    enum Rows: Decodable, Equatable {
      case count(Int64)
      case damaged

      init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        self = (try? value.decode(Int64.self)).map { .count($0) } ?? .damaged
      }
    }

    var copy: Copy

    enum CodingKeys: String, CodingKey {
      case copy = "copy_rw"
    }
  }

  private static let observed: [String: Observed] = {
    guard
      let data = FileManager.default.contents(atPath: LegacyStores.path("variants/observed.json"))
    else { return [:] }
    return (try? JSONDecoder().decode([String: Observed].self, from: data)) ?? [:]
  }()

  @Test(
    .enabled(if: LegacyStores.isHere, "\(LegacyStores.skipped)"), arguments: observed.keys.sorted())
  func eachVariantIsReadAsSQLiteReadsItsCopyOrRefused(name: String) throws {
    let path = LegacyStores.path("variants/" + name)
    let folder = URL(filePath: path).deletingLastPathComponent().path
    let expected = try #require(Self.observed[name]).copy
    let before = try FolderState(folder)
    try withTemporaryFolder { scratch in
      do {
        let database = try SourceDatabase(SourceSnapshot.take(of: path, in: scratch.path))
        #expect(expected.schema == nil)
        for table in database.tables where table.kind == .table {
          let columns = table.columns.map(\.name)
          do {
            let rows = try database.rows(of: table, columns: columns).all()
            #expect(expected.tables?[table.name] == .count(Int64(rows.count)), "\(table.name)")
          } catch let error as ImportError {
            #expect(error.code == .damaged && expected.tables?[table.name] == .damaged)
          }
        }
      } catch let error as ImportError {
        #expect(expected.schema != nil, "\(error)")
        #expect([.damaged, .truncated, .encrypted, .notADatabase].contains(error.code))
      }
      try readDamaged(path, scratch)
    }
    #expect(try FolderState(folder) == before)
  }

  private func readDamaged(_ path: String, _ scratch: TemporaryFolder) throws {
    do {
      let database = try SourceDatabase.open(
        SourceSnapshot.take(of: path, in: scratch.path), allowsDamage: true)
      for table in database.tables where table.kind == .table {
        let rows = try database.rows(of: table, columns: table.columns.map(\.name)).all()
        #expect(try database.count(table) == Int64(rows.count), "\(table.name)")
      }
    } catch let error as ImportError {
      #expect([.damaged, .truncated, .encrypted, .notADatabase].contains(error.code))
    }
  }

  @Test(
    .enabled(if: LegacyStores.isHere, "\(LegacyStores.skipped)"),
    arguments: [
      ("bitflip/coredata_zeropage.db", "ZPAGE", 4_954),
      ("bitflip/newsboat_zeropage.db", "rss_item", 772),
      ("bitflip/newsboat_magic.db", "rss_item", 773),
      ("bitflip/newsboat_pagecount_lie.db", "rss_item", 773),
      ("bitflip/newsboat_writeversion3.db", "rss_item", 773),
      ("bitflip/coredata_seed2.db", "ZPAGE", 4_936),
      ("truncated/coredata_lastpage_lost.db", "ZPAGE", 4_970),
      ("truncated/coredata_half_page.db", "ZPAGE", 2_570), ("schema/evil_schema.db", "t", 1),
    ])
  func theFlagRecoversMostRows(name: String, table: String, rows: Int64) throws {
    try withTemporaryFolder { scratch in
      let snapshot = try SourceSnapshot.take(
        of: LegacyStores.path("variants/" + name), in: scratch.path)
      let database = try SourceDatabase.open(snapshot, allowsDamage: true)
      let count = try database.count(#require(database.table(table)))
      #expect(count >= rows, "\(count)")
    }
  }

  /// The lines of the index: "`file` bytes — n tables, n rows: table n, table n".
  private static let stores: [(path: String, rows: [String: Int64])] = {
    guard
      let index = try? String(contentsOfFile: LegacyStores.path("stores/INDEX.md"), encoding: .utf8)
    else { return [] }
    var folder = ""
    var stores: [(String, [String: Int64])] = []
    for line in index.split(separator: "\n") {
      if line.hasPrefix("## ") { folder = String(line.dropFirst(3)) }
      guard line.hasPrefix("- `"), let rows = line.range(of: " rows: ") ?? line.range(of: " rows:")
      else { continue }
      let file = line.split(separator: "`")[1]
      let counts = line[rows.upperBound...].split(separator: ", ").compactMap { part in
        let words = part.split(separator: " ")
        return words.count == 2 ? Int64(words[1]).map { (String(words[0]), $0) } : nil
      }
      stores.append(("stores/\(folder)/\(file)", Dictionary(uniqueKeysWithValues: counts)))
    }
    return stores
  }()

  @Test(.enabled(if: LegacyStores.isHere, "\(LegacyStores.skipped)"), arguments: stores.map(\.path))
  func eachStoreHasTheRowsOfItsIndex(name: String) throws {
    let path = LegacyStores.path(name)
    let expected = try #require(Self.stores.first { $0.path == name }).rows
    let folder = URL(filePath: path).deletingLastPathComponent().path
    let before = try FolderState(folder)
    try withTemporaryFolder { scratch in
      let database = try SourceDatabase(SourceSnapshot.take(of: path, in: scratch.path))
      for (table, count) in expected {
        #expect(try database.count(#require(database.table(table))) == count, "\(table)")
      }
      for table in database.tables where table.kind == .table {
        let rows = try database.rows(of: table, columns: table.columns.map(\.name)).all()
        #expect(try database.count(table) == Int64(rows.count))
      }
    }
    #expect(try FolderState(folder) == before)
  }

  @Test(
    .enabled(if: LegacyStores.isHere, "\(LegacyStores.skipped)"),
    arguments: [
      ("wal/ddg_wal_lost.sqlite", "no -wal"),
      ("wal/ddg_renamed_copy.sqlite", "Bookmarks_V5.sqlite-wal"),
      ("wal/ddg_wal_empty.sqlite", "-wal is empty"), ("wal/ddg_wal_halfframe.sqlite", "torn"),
      ("wal/ddg_wal_badsum_first.sqlite", "frame 1"),
      ("wal/ddg_wal_garbage.sqlite", "header of the -wal"),
      ("journal/hot.db", "rolled back"), ("truncated/newsboat_zero.db", "empty"),
    ])
  func problemsThatSQLiteIgnoresAreReported(name: String, words: String) throws {
    try withTemporaryFolder { scratch in
      let report = try SourceSnapshot.take(
        of: LegacyStores.path("variants/" + name), in: scratch.path
      ).report
      #expect((report.notes + report.warnings).contains { $0.contains(words) }, "\(report)")
    }
  }
}
