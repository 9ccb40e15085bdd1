import EntityModel
import EntityStore
import Foundation
import LegacyImport
import TestSupport
import Testing

/// Files that real programs wrote, each taken over as its inspection proposes.
@Suite(.enabled(if: LegacyStores.isHere, "\(LegacyStores.skipped)"))
struct RealStoresTests {
  struct File: Sendable, CustomTestStringConvertible {
    let path: String
    /// The expected number of rejects by code, each with its reason.
    var rejects: [String: Int64] = [:]
    var testDescription: String { path }

    init(_ path: String, _ rejects: [String: Int64] = [:]) {
      self.path = path
      self.rejects = rejects
    }
  }

  static let files = [
    File("stores/chrome-cookies/cookies.db"),
    File("stores/coredataplus/SampleModel2_V1.sqlite"),
    File("stores/coredataplus/SampleModel2_V2.sqlite"),
    File("stores/coredataplus/SampleModel3_V1.sqlite"),
    File("stores/coredataplus/SampleModel_V1.sqlite"),
    File("stores/coredataplus/SampleModel_V2.sqlite"),
    File("stores/ddg-bookmarks-v1/Bookmarks_V1.sqlite"),
    File("stores/ddg-bookmarks-v3/Bookmarks_V3.sqlite"),
    File("stores/ddg-bookmarks-v5/Bookmarks_V5.sqlite"),
    File("stores/ddg-syncmetadata-v3/SyncMetadata_V3.sqlite"),
    File("stores/embrace-tmp/tmp_db.sqlite"),
    File("stores/firefox-places/places.sqlite"),
    File("stores/gpodder/Database"),
    File("stores/grdb-issue1383/Issue1383.sqlite"),
    File("stores/ios-datausage/DataUsage.sqlite"),
    File("stores/ios-netusage/netusage.sqlite"),
    File("stores/kodi-myvideos/MyVideos107.db"),
    File("stores/liferea/liferea.db"),
    File("stores/liferea-webkit-itp/observations.db"),
    File("stores/macos-knowledgec-10.13/knowledgec-10.13.db"),
    File("stores/newsboat/cache.db"),
    File("stores/plaso-wal/wal_database.db"),
    File("stores/safari-history/History.db"),
    File("stores/sqliteswift-test/test.sqlite"),
    File("synthetic/Podcasts.sqlite"),
    File("synthetic/PodcastsNoCache.sqlite"),
    File("synthetic/PodcastsWal.sqlite"),
  ]

  @Test func everyFileOfTheFolderIsListedHere() {
    let known = Set(Self.files.map(\.path) + Self.unreadable.map(\.path))
    let found = ["stores", "synthetic"].flatMap { folder in
      LegacyStores.files(below: folder).filter { path in
        !path.contains("_SUPPORT/")
          && !["-wal", "-shm", ".json", ".md", "/urls"].contains(where: path.hasSuffix)
      }
    }
    #expect(Set(found) == Set(known.map(LegacyStores.path)))
  }

  @Test(arguments: files) func everyRowIsAccountedFor(file: File) async throws {
    let path = LegacyStores.path(file.path)
    let folder = URL(filePath: path).deletingLastPathComponent().path
    let before = try FolderState(folder)
    try await withProposedImport(of: path) { proposed in
      let (plan, planned) = try proposed.plan()
      let report = try proposed.run()
      #expect(report.isBalanced, "\(problems(of: report))")
      #expect(plan.isBalanced, "\(problems(of: plan))")
      #expect(report.rejects == file.rejects)
      expectSameBalance(plan, report)
      let rejects = try proposed.rejects()
      #expect(described(planned) == described(rejects))
      let reading = try IndependentReading(of: path)
      try expectAllRows(of: reading, in: report, proposed.mapping)
      try expectSameValues(as: reading, report, proposed)

      let second = try proposed.run()
      #expect(second.isBalanced, "\(problems(of: second))")
      #expect(second.entities.allSatisfy { $0.written.new == 0 && $0.written.changed == 0 })
      #expect(second.gone == 0)
      #expect(second.relationships == report.relationships)
      expectSameBalance(try proposed.plan().report, second)
    }
    #expect(try FolderState(folder) == before)
  }

  // MARK: What cannot be read

  static let unreadable: [(path: String, code: ImportError.Code)] = [
    ("stores/embrace-corrupted/db_corrupted.sqlite", .damaged),
    ("stores/sqlcipher4-sqliteswift/encrypted-4.x.sqlite", .encrypted),
  ]

  @Test(arguments: unreadable) func anUnreadableFileIsReported(
    path: String, code: ImportError.Code
  ) throws {
    do {
      _ = try LegacyFile(LegacyStores.path(path)).inspect()
      Issue.record("it was read")
    } catch let error as ImportError {
      #expect(error.code == code)
      #expect(!error.description.contains("\n"))
    }
  }

  // MARK: Parts

  private func described(_ rejects: [ImportReject]) -> [String] {
    rejects.map { "\($0.table) \($0.key) \($0.property ?? "-") \($0.code)" }.sorted()
  }

  /// Each table that SQLite has is taken over row by row, read for links, or skipped by name.
  private func expectAllRows(
    of reading: IndependentReading, in report: ImportReport, _ mapping: ImportMapping
  ) throws {
    var joins: [String: Set<String>] = [:]
    for entity in mapping.entities {
      for relationship in entity.relationships {
        guard case .join(let table, _, _, _) = relationship.source else { continue }
        joins[table, default: []].insert("\(entity.entity).\(relationship.relationship)")
      }
    }
    for table in try reading.tables() {
      let count = try reading.count(table)
      if let balance = report.tables.first(where: { $0.name == table }) {
        #expect(balance.rows == count)
        #expect(
          balance.accepted + balance.rejected + balance.skipped + balance.unreadable == count,
          "\(table)")
      } else if let names = joins[table] {
        for relationship in report.relationships where names.contains(relationship.name) {
          #expect(relationship.rows == count, "\(relationship.name)")
        }
      } else {
        #expect(mapping.skippedTables.contains(table), "\(table)")
      }
    }
  }

  /// Requires that the values of all records equal those that SQLite returns.
  private func expectSameValues(
    as reading: IndependentReading, _ report: ImportReport, _ proposed: ProposedImport
  ) throws {
    let mapping = proposed.mapping
    for entity in mapping.entities
    where report.tables.first(where: { $0.name == entity.table })?.rejected == 0
      && mapping.entities.filter({ $0.entity == entity.entity }).count == 1
    {
      let records = try proposed.store.read {
        try $0.fetch(FetchRequest(entityName: entity.entity))
      }
      for attribute in entity.attributes {
        guard let expected = try reading.values(of: attribute, entity) else { continue }
        let found = try records.map { record in
          let value = try record[attribute.attribute]
          return value.isNull ? "null" : value.text
        }
        #expect(found.sorted() == expected, "\(entity.entity).\(attribute.attribute)")
      }
    }
  }
}

/// Requires that a plan predicts the result of the run for rows and links.
func expectSameBalance(
  _ plan: ImportReport, _ run: ImportReport, _ location: SourceLocation = #_sourceLocation
) {
  #expect(plan.tables == run.tables, sourceLocation: location)
  #expect(
    plan.relationships.map(\.withoutEdits) == run.relationships.map(\.withoutEdits),
    sourceLocation: location)
  #expect(plan.rejects == run.rejects, sourceLocation: location)
  #expect(plan.externalFiles == run.externalFiles, sourceLocation: location)
}

/// Describes the parts of a report that do not balance.
func problems(of report: ImportReport) -> String {
  let tables = report.tables.filter { !$0.isBalanced }.map { "\($0)" }
  let entities = report.entities.filter { !$0.isBalanced }.map { "\($0)" }
  let relationships = report.relationships.filter { !$0.isBalanced }.map { "\($0)" }
  return (tables + entities + relationships).joined(separator: "\n")
}

extension ImportReport.Relationship {
  fileprivate var withoutEdits: [String] {
    ["\(name) \(rows) \(linked) \(empty) \(rejected) \(dropped) \(skipped) \(unreadable)"]
  }
}
