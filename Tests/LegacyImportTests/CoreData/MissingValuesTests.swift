import EntityModel
import EntityStore
import Foundation
import TestSupport
import Testing

@testable import LegacyImport

/// Values and links that a Core Data file names and does not have.
@Suite struct MissingValuesTests {
  // MARK: Dates

  @Test func theDatesThatStandForNoneAreProposedAsNull() async throws {
    let past = "-63114076800"
    let future = "63113904000"
    try await withPodcasts(
      """
      UPDATE ZFEED SET ZARTWORK = NULL WHERE Z_PK = 2;
      UPDATE ZFEED SET ZLASTFETCHED = \(future) WHERE Z_PK = 1;
      UPDATE ZITEM SET ZPUBLISHEDAT = \(past) WHERE Z_PK = 3;
      """
    ) { proposed in
      let published = try proposed.attribute("publishedAt", of: "Item", at: 1)
      #expect(published.conversion == Conversion(nullValues: [past], date: .coreDataSeconds))
      #expect(published.evidence.isEmpty && published.unconfirmed == nil)
      let fetched = try proposed.attribute("lastFetched", of: "Feed")
      #expect(fetched.conversion == Conversion(nullValues: [future], date: .coreDataSeconds))
      let proposal = try proposed.file.inspect()
      #expect(
        proposal.unconfirmed == [
          "Feed.lastFetched: 1 are Date.distantFuture: as it is no date; coreDataSeconds gives "
            + "4001-01-01T00:00:00Z"
        ])
      #expect(proposal.mapping.contains("# 1 are Date.distantPast, which stands for no date"))
      // To name the form keeps the date.
      var kept = fetched
      try kept.confirm("coreDataSeconds", of: "Feed.lastFetched")
      #expect(kept.conversion == Conversion(date: .coreDataSeconds) && kept.unconfirmed == nil)
      let report = try proposed.run()
      #expect(report.isBalanced && report.rejects.isEmpty, "\(report.rejects)")
      #expect(try proposed.texts("Item", "publishedAt") == ["null", "null", "null", "null"])
      #expect(report.relationships.first { $0.name == "Feed.items" }?.linked == 4)
    }
  }

  @Test func aRequiredDateThatNoRecordHoldsMakesTheAttributeOptional() async throws {
    let model = try ManagedObjectModel(entities: [
      .init(
        name: "Event",
        attributes: [
          .init(name: "begin", type: .date, isOptional: false),
          .init(name: "end", type: .date, isOptional: false),
        ])
    ])
    let sql = """
      CREATE TABLE ZEVENT (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER,
        ZBEGIN TIMESTAMP, ZEND TIMESTAMP);
      INSERT INTO ZEVENT VALUES (1, 1, 1, -63114076800, 63113904000), (2, 1, 1, 0, 0);
      CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER,
        Z_MAX INTEGER);
      INSERT INTO Z_PRIMARYKEY VALUES (1, 'Event', 0, 2);
      CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB);
      INSERT INTO Z_METADATA VALUES (1, 'uuid', NULL);
      CREATE TABLE Z_MODELCACHE (Z_CONTENT BLOB);
      INSERT INTO Z_MODELCACHE VALUES (\(Podcasts.hex(ModelWriter.bytes(of: model))));
      """
    try await withFile(sql) { proposed in
      let report = try proposed.run()
      #expect(report.isBalanced && report.rejects.isEmpty, "\(report.rejects)")
      #expect(try proposed.texts("Event", "begin") == ["null", "2001-01-01T00:00:00Z"])
      // A date that a record holds is kept where the model requires one.
      #expect(
        try proposed.texts("Event", "end") == ["4001-01-01T00:00:00Z", "2001-01-01T00:00:00Z"])
    }
  }

  // MARK: Files

  @Test func aMissingFileCostsTheValueAndIsReported() async throws {
    try await withPodcasts("") { proposed in
      let (plan, planned) = try proposed.plan()
      let report = try proposed.run()
      #expect(report.isBalanced, "\(problems(of: report))")
      expectSameBalance(plan, report)
      #expect(report.rejects == ["external_missing": 1] && !report.isWithinLimit)
      #expect(planned.map(\.property) == ["artwork"])
      #expect(try proposed.rejects().map(\.key) == ["2"])
      #expect(try proposed.texts("Feed", "artwork") == ["base64:Ag==", "null", "null"])
      #expect(report.relationships.first { $0.name == "Feed.items" }?.linked == 4)

      // The value follows when its file is there, and stays when the file is gone again.
      let folder = URL(filePath: proposed.file.path).deletingLastPathComponent()
        .appending(path: ".podcasts_SUPPORT/_EXTERNAL_DATA")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      let file = folder.appending(path: "3F2504E0-4F89-41D3-9A0C-0305E82C3301")
      try Data([7]).write(to: file)
      let second = try proposed.run()
      #expect(second.isBalanced && second.rejects.isEmpty, "\(problems(of: second))")
      let complete = try proposed.texts("Feed", "artwork")
      #expect(complete == ["base64:Ag==", "base64:Bw==", "null"])
      try FileManager.default.removeItem(at: file)
      let third = try proposed.run()
      #expect(third.isBalanced, "\(problems(of: third))")
      #expect(third.rejects == ["external_missing": 1])
      #expect(try proposed.texts("Feed", "artwork") == complete)
    }
  }

  @Test(arguments: AttributeMapping.MissingFile.allCases)
  func theMappingDecidesAboutMissingFiles(choice: AttributeMapping.MissingFile) async throws {
    try await withPodcasts("") { original in
      let proposed = original.changing { $0.missingFile = choice }
      let (plan, _) = try proposed.plan()
      let report = try proposed.run()
      #expect(report.isBalanced, "\(problems(of: report))")
      expectSameBalance(plan, report)
      let expected: [String: Int64] =
        switch choice {
        case .reject: ["external_missing": 1]
        case .drop: [:]
        case .rejectRow: ["external_missing": 1, "row_rejected": 2]
        }
      #expect(report.rejects == expected)
      #expect(try proposed.texts("Feed", "title").count == (choice == .rejectRow ? 2 : 3))
      #expect(report.externalFiles?.missing == 1)
    }
  }

  // MARK: Links

  @Test func linksToNoRowAreDroppedAfterAPersonHasConfirmedIt() async throws {
    try await withPodcasts(
      """
      UPDATE ZFEED SET ZARTWORK = NULL WHERE Z_PK = 2;
      UPDATE ZITEM SET ZFEED = 99 WHERE Z_PK = 2;
      INSERT INTO Z_4PLAYLISTS VALUES (77, 1, 3), (3, 66, 4);
      """
    ) { proposed in
      let proposal = try proposed.file.inspect()
      #expect(
        proposal.unconfirmed == [
          "Feed.items: 1 of 4 links lead to no row (ZFEED 99): drop or reject them?",
          "Playlist.episodes: 2 of 4 links lead to no row (ZITEM 77, ZPLAYLIST 66): "
            + "drop or reject them?",
        ])
      let report = try proposed.run()
      #expect(report.isBalanced && report.rejects.isEmpty, "\(report.rejects)")
      #expect(report.relationships.map(\.dropped).reduce(0, +) == 3)
    }
  }

  @Test func onlyTheRowsOfTheEntityAreSearchedForOrphans() throws {
    let mapping = ImportMapping(
      name: "made", dialect: .plain,
      entities: [
        EntityMapping(entity: "Author", table: "author", key: ["id"]),
        EntityMapping(
          entity: "Book", table: "book", filter: RowFilter(isOneOf: ["kind": ["1"]]), key: ["id"],
          relationships: [
            RelationshipMapping(
              relationship: "author", source: .columns(["author"]), table: "author")
          ]),
      ])
    func marked(_ rows: String) throws -> RelationshipMapping {
      try MadeDatabase.with(
        """
        CREATE TABLE author (id INTEGER PRIMARY KEY);
        CREATE TABLE book (id INTEGER PRIMARY KEY, kind INTEGER, author INTEGER);
        INSERT INTO author VALUES (1); INSERT INTO book VALUES \(rows);
        """
      ) { try OrphanSearch.marking(mapping, in: $0).entities[1].relationships[0] }
    }
    let whole = try marked("(1, 1, 1), (2, 1, NULL), (3, 2, 50)")
    #expect(whole == mapping.entities[1].relationships[0])
    let torn = try marked("(1, 1, 1), (2, 1, 7), (3, 1, 7), (4, 1, 8), (5, 1, 9), (6, 1, 10)")
    #expect(torn.orphan == .drop)
    #expect(
      torn.unconfirmed
        == "5 of 6 links lead to no row (author 7, author 8, author 9, …): drop or reject them?")
  }

  // MARK: Files

  private func withPodcasts(
    _ change: String, _ body: (ProposedImport) async throws -> Void
  ) async throws {
    try await withFile(Podcasts.sql(change), body)
  }

  private func withFile(
    _ sql: String, _ body: (ProposedImport) async throws -> Void
  ) async throws {
    try await withTemporaryFolder { folder in
      let path = folder.path("podcasts.sqlite")
      try MadeDatabase.make(at: path, sql)
      try await withProposedImport(of: path, body)
    }
  }
}

extension ProposedImport {
  fileprivate func attribute(
    _ name: String, of entity: String, at place: Int = 0
  ) throws -> AttributeMapping {
    let entities = mapping.entities.filter { $0.entity == entity }
    return try #require(entities[place].attributes.first { $0.attribute == name })
  }

  /// The values of an attribute, in the order of the records.
  fileprivate func texts(_ entity: String, _ attribute: String) throws -> [String] {
    try store.read { snapshot in
      try snapshot.fetch(FetchRequest(entityName: entity)).map { record in
        switch try record[attribute] {
        case .null: "null"
        case .data(let data): "base64:" + data.base64EncodedString()
        case let value: value.text
        }
      }
    }
  }

  /// The same import with a changed mapping of the values in files.
  fileprivate func changing(_ change: (inout AttributeMapping) -> Void) -> ProposedImport {
    var changed = mapping
    for entity in changed.entities.indices {
      for place in changed.entities[entity].attributes.indices
      where changed.entities[entity].attributes[place].content == .external {
        change(&changed.entities[entity].attributes[place])
      }
    }
    return ProposedImport(temporary: temporary, file: file, name: name, mapping: changed)
  }
}
