import EntityModel
import Testing

@testable import LegacyImport

@Suite struct MappingCheckTests {
  private static func table(
    _ name: String, _ columns: [String], key: [String] = [], alias: String? = nil,
    kind: SourceTable.Kind = .table, unique: [[String]] = [], hasRowID: Bool = true
  ) -> SourceTable {
    SourceTable(
      name: name, kind: kind,
      columns: columns.map {
        SourceColumn(name: $0, declaredType: "", isRequired: false)
      }, hasRowID: hasRowID, primaryKey: key, rowIDAlias: alias, foreignKeys: [], uniqueKeys: unique
    )
  }

  private static let tables = [
    table("ITEM", ["id", "title", "kind", "feed"], key: ["id"], alias: "id"),
    table("FEED", ["id", "url"], key: ["id"], alias: "id"),
    table("LINKS", ["item", "feed", "place"]), table("LOG", ["text"]),
    table("sqlite_stat1", ["tbl"]), table("SHOWN", ["id"], kind: .view),
  ]

  /// A complete mapping of ``tables``.
  private static func mapping() -> ImportMapping {
    ImportMapping(
      name: "made", dialect: .plain,
      entities: [
        EntityMapping(
          entity: "Item", table: "ITEM", filter: RowFilter(isOneOf: ["kind": ["1"]]), key: ["id"],
          attributes: [.init(attribute: "title", type: .string, source: .column("title"))],
          relationships: [
            .init(relationship: "feed", source: .columns(["feed"]), table: "FEED"),
            .init(
              relationship: "feeds",
              source: .join(table: "LINKS", owner: ["item"], target: ["feed"], order: "place"),
              table: "FEED"),
          ]),
        EntityMapping(
          entity: "Feed", table: "FEED", key: ["id"],
          attributes: [.init(attribute: "url", type: .string, source: .column("url"))]),
      ], skippedTables: ["LOG"])
  }

  private static func problems(_ change: (inout ImportMapping) -> Void) -> [String] {
    var mapping = mapping()
    change(&mapping)
    return MappingCheck(of: mapping, against: tables).problems
  }

  @Test func aCompleteMappingHasNoProblems() {
    let check = MappingCheck(of: Self.mapping(), against: Self.tables)
    #expect(check.problems == [] && check.warnings == [])
  }

  @Test func missingNamesAreReportedWithSimilarOnes() {
    #expect(
      Self.problems { $0.entities[1].table = "FEDE" }.first
        == #"Feed is from the table "FEDE", which is not there; did you mean "FEED"?"#)
    #expect(
      Self.problems { $0.entities[1].table = "SHOWN" }.first
        == #"Feed is from "SHOWN", which is no table of data (a view); only tables are read"#)
    #expect(
      Self.problems { $0.entities[1].attributes[0].source = .column("URL") } == [
        #"Feed.url names the column "URL", which the table "FEED" has not; did you mean "url"?"#,
        #"of the table "FEED" nothing takes "url"; map what is wanted, and list the rest in skip"#,
      ])
    #expect(
      Self.problems { $0.entities[0].filter.isNoneOf = ["deleted": ["1"]] } == [
        #"the filter of Item names the column "deleted", which the table "ITEM" has not; it has "#
          + #""id", "title", "kind", "feed""#
      ])
  }

  @Test func unmappedColumnsAreNamed() {
    #expect(
      Self.problems { $0.skippedTables = [] } == [
        #"the table "LOG" is neither mapped nor skipped; do one of them"#
      ])
    #expect(
      Self.problems { $0.entities[0].attributes = [] } == [
        #"of the table "ITEM" nothing takes "title"; map what is wanted, and list the rest in skip"#
      ])
    #expect(
      Self.problems {
        $0.entities[0].attributes = []
        $0.skippedColumns = ["ITEM": ["title"]]
      } == [])
    #expect(
      Self.problems {
        $0.entities[0].relationships[1].source = .join(
          table: "LINKS", owner: ["item"], target: ["feed"], order: nil)
      } == [
        #"of the table "LINKS" nothing takes "place"; map what is wanted, and list the rest in skip"#
      ])
  }

  @Test func skippedColumnsExistAndAreNotMapped() {
    #expect(
      Self.problems { $0.skippedTables.insert("FEED") } == [
        #"the table "FEED" is skipped and mapped; remove one of the two"#
      ])
    #expect(
      Self.problems { $0.skippedTables.insert("LINKS") } == [
        #"the table "LINKS" is skipped and mapped; remove one of the two"#
      ])
    #expect(
      Self.problems { $0.skippedTables.insert("LOGS") } == [
        #"there is no table "LOGS" to skip; did you mean "LOG"?"#
      ])
    #expect(
      Self.problems { $0.skippedColumns = ["ITEM": ["kind"], "X": ["a"]] } == [
        #"the column "kind" of the table "ITEM" is skipped and mapped; remove one of the two"#,
        #"there is no table "X" to skip columns of; remove it from skip"#,
      ])
    #expect(
      Self.problems { $0.skippedColumns = ["ITEM": ["tite"]] } == [
        #"skip names the column "tite", which the table "ITEM" has not; did you mean "title"?"#
      ])
  }

  @Test func entitiesOfOneTableShareTheKeyAndNoRow() {
    var second = Self.mapping().entities[0]
    second.entity = "Other"
    #expect(
      Self.problems { $0.entities.append(second) } == [
        #"Item and Other may get the same row of the table "ITEM"; tell them apart by the values of "#
          + "one column (where, unless)"
      ])
    second.filter = RowFilter(isOneOf: ["kind": ["2", nil]])
    #expect(Self.problems { $0.entities.append(second) } == [])
    second.filter = RowFilter(isNoneOf: ["kind": ["1", "3"]])
    #expect(Self.problems { $0.entities.append(second) } == [])
    second.key = ["title"]
    #expect(
      Self.problems { $0.entities.append(second) } == [
        #"Item and Other come from the table "ITEM" and have different keys; give both the same"#
      ])
  }

  @Test func aRelationshipLeadsToAKey() {
    #expect(
      Self.problems { $0.entities[0].relationships[0].table = "LOG" } == [
        #"Item.feed leads to the table "LOG", of which nothing is mapped; map it to an entity"#
      ])
    #expect(
      Self.problems { $0.entities[0].relationships[0].source = .columns(["feed", "kind"]) } == [
        #"Item.feed has 2 columns (feed, kind) for the key of the table "FEED", which has 1 (id); "#
          + "name one for each"
      ])
    #expect(
      Self.problems {
        $0.entities[0].relationships[1].source = .join(
          table: "LINKS", owner: ["item", "place"], target: ["feed"], order: nil)
      } == [
        #"Item.feeds has 2 columns (item, place) for the key of the table "ITEM", which has 1 (id); "#
          + "name one for each"
      ])
  }

  @Test func aKeyIsUniqueOrTheRowID() {
    func check(_ table: SourceTable, key: [String]) -> MappingCheck {
      MappingCheck(
        of: ImportMapping(
          name: "made", dialect: .plain,
          entities: [EntityMapping(entity: "E", table: "T", key: key)],
          skippedColumns: ["T": Set(table.columns.map(\.name)).subtracting(key)]),
        against: [table])
    }
    let plain = check(Self.table("T", ["a"]), key: ["rowid"])
    #expect(plain.problems == [] && plain.warnings.count == 1)
    #expect(
      check(Self.table("T", ["a"], key: ["a"], alias: "a"), key: ["rowid"]).problems == [
        #"the rowid of the table "T" has the name "a"; use that as the key of E"#
      ])
    #expect(
      check(Self.table("T", ["a"], key: ["a"], hasRowID: false), key: ["rowid"]).problems == [
        #"the table "T" has no rowid; use its primary key, a, as the key of E"#
      ])
    #expect(
      check(Self.table("T", ["a", "b"]), key: ["a"]).warnings == [
        #"the table "T" may have several rows with the same a, the key of E; all but the first are "#
          + "rejects"
      ])
    #expect(check(Self.table("T", ["a", "b"], unique: [["a"]]), key: ["a"]).warnings == [])
    #expect(check(Self.table("T", ["rowid"], key: ["rowid"]), key: ["rowid"]).warnings == [])
  }
}
