import EntityModel
import EntityStore
import Foundation
import Migrations
import TestSupport
import Testing

@testable import LegacyImport

/// Mappings of older versions of a file, brought up to date with a newer one.
@Suite struct MappingUpdateTests {
  private static let migration = """
    line: made
    summary: Articles that a person has edited
    steps:
      - createEntity:
          name: Item
          attributes:
            - { name: sort, type: enum, values: [Article] }
            - { name: title, type: string, optional: true }
            - { name: words, type: int64, optional: true }
    """

  /// A person has renamed the kind and an attribute, and skips a column.
  private static let mapping = """
    # my articles
    import: made
    dialect: coreData
    rejects: 7
    entities:
      - entity: Item # one for all
        table: ZITEM
        where: { Z_ENT: [2], ZDRAFT: [0] }
        key: [Z_PK]
        attributes:
          sort: { value: Article }
          # a long comment, which goes on
          #  in a second line
          title: { column: ZNAME, trim: true }
          words: ZWORDS1
    skip:
      tables: [Z_PRIMARYKEY]
      columns: { ZITEM: [Z_OPT, ZSECRET] }
    """

  @Test func editsStayAndNewKindsAndAttributesAreAdded() throws {
    let update = try update(
      columns: ["Z_PK", "Z_ENT", "Z_OPT", "ZDRAFT", "ZNAME", "ZWORDS", "ZSECRET", "ZLENGTH"],
      entries: [
        entry("Article", 3, ["title": "ZNAME", "words": "ZWORDS", "secret": "ZSECRET"]),
        entry("Video", 4, ["title": "ZNAME", "length": "ZLENGTH"]),
      ])
    let entities = update.mapping.entities
    #expect(entities.map(\.entity) == ["Item", "Item"])
    #expect(entities[0].filter.isOneOf == ["Z_ENT": ["3"], "ZDRAFT": ["0"]])
    #expect(entities[0].evidence == ["one for all"])
    #expect(update.mapping.evidence == ["my articles"])
    #expect(update.mapping.rejectLimit == .count(7))
    let title = try #require(entities[0].attributes.first { $0.attribute == "title" })
    #expect(title.conversion.trims && title.source == .column("ZNAME"))
    #expect(title.evidence == ["a long comment, which goes on in a second line"])
    #expect(
      entities[0].attributes.map(\.source)
        == [.constant(.string("Article")), .column("ZNAME"), .column("ZWORDS")])
    #expect(
      entities[1].attributes.map(\.attribute).sorted() == ["length", "sort", "title"])
    #expect(entities[1].attributes.contains { $0.source == .constant(.string("Video")) })
    #expect(update.mapping.skippedColumns == ["ZITEM": ["Z_OPT", "ZSECRET"]])
    #expect(update.changes.contains("Item.words is read from ZWORDS now, before ZWORDS1"))
    #expect(update.warnings.isEmpty, "\(update.warnings)")
    // The steps fit the schema, and the mapping fits the schema after them.
    let schema = try schema(after: update.additions.steps)
    let read = try MappingFile.read(
      Array(MappingFile.text(of: update.mapping).utf8), file: "new", schema: schema)
    #expect(
      MappingFile.text(of: read) == MappingFile.text(of: update.mapping.withoutEvidence))
    #expect(schema.entity(named: "Item")?.attribute(named: "length")?.isOptional == true)
  }

  @Test func whatIsGoneIsRemovedAndReported() throws {
    let update = try update(
      columns: ["Z_PK", "Z_ENT", "ZDRAFT", "ZNAME", "ZNEW"],
      entries: [entry("Article", 2, ["title": "ZNAME"])])
    #expect(update.mapping.entities[0].attributes.map(\.attribute) == ["sort", "title"])
    #expect(
      update.warnings == [
        "Item.words is no longer imported: ZITEM.ZWORDS1 is gone; the values in the store stay",
        "new columns are skipped: ZITEM.ZNEW",
      ])
    #expect(update.additions.steps.isEmpty)
    let none = try self.update(columns: nil, entries: [])
    #expect(none.mapping.entities.isEmpty)
    #expect(none.warnings.first?.hasPrefix("Item is no longer imported") == true)
  }

  @Test func whatIsAddedTakesNoNameThatIsTaken() throws {
    var additions = SchemaAdditions(to: try schema(after: []))
    func add(_ name: String, _ type: AttributeType) -> String {
      additions.attribute(AttributeDescription(name: name, type: type), of: "Item", besides: [])
    }
    #expect(add("title", .string) == "title")
    #expect(additions.steps.isEmpty)
    #expect(add("title", .double) == "title2")
    #expect(add("title", .data) == "title3")
    #expect(add("length", .double) == "length")
    #expect(add("length", .string) == "length2")
    let item = try #require(try schema(after: additions.steps).entity(named: "Item"))
    #expect(
      item.attributes.map(\.name)
        == ["sort", "title", "words", "title2", "title3", "length", "length2"])
  }

  /// Core Data's own migration of the model of one program.
  @Test(.enabled(if: LegacyStores.isHere, "\(LegacyStores.skipped)"))
  func aMappingOfARealStoreFollowsItsMigration() throws {
    func file(_ version: Int) -> LegacyFile {
      LegacyFile(LegacyStores.path("stores/coredataplus/SampleModel2_V\(version).sqlite"))
    }
    let first = try file(1).inspect(name: "books")
    let schema = try MappedSchema.schema(first.migration, line: "books")
    let mapping = try MappingText(Array(first.mapping.utf8), file: "books.yaml")
    let same = try file(1).update(mapping, schema: schema)
    #expect(same.mapping == first.mapping && !same.hasMigration)
    let second = try file(2).update(mapping, schema: schema)
    #expect(!second.hasMigration)
    #expect(second.notes.contains("Book.cover is read from ZFRONTCOVER now, before ZCOVER"))
    #expect(second.warnings.contains { $0.hasPrefix("Author.siteURL is no longer imported") })
    #expect(second.mapping.contains("cover: ZFRONTCOVER"))
  }

  // MARK: Parts

  private func update(columns: [String]?, entries: [EntityMapping]) throws -> MappingUpdate {
    let schema = try schema(after: [])
    let old = try MappingText(Array(Self.mapping.utf8), file: "old").commented(schema)
    let kinds = ["Article", "Video"].map { Enumeration.Case(name: $0, rawValue: .string($0)) }
    let attributes =
      [AttributeDescription(name: "kind", type: .enumeration(Enumeration(cases: kinds)))]
      + [
        ("title", AttributeType.string), ("words", .int64), ("length", .double), ("secret", .data),
      ]
      .map { AttributeDescription(name: $0, type: $1) }
    var proposed = ImportMapping(name: "made", dialect: .coreData, entities: entries)
    proposed.skippedColumns = ["ZITEM": ["Z_OPT"]]
    let table = columns.map { columns in
      SourceTable(
        name: "ZITEM", kind: .table,
        columns: columns.map { SourceColumn(name: $0, declaredType: "", isRequired: false) },
        hasRowID: true, primaryKey: ["Z_PK"], rowIDAlias: "Z_PK", foreignKeys: [], uniqueKeys: []
      )
    }
    return MappingUpdate(
      of: old,
      with: SuggestedImport(
        mapping: proposed,
        steps: [.createEntity(name: "Item", attributes: attributes, keepsHistory: true)],
        warnings: []),
      schema, in: [table].compactMap(\.self))
  }

  private func entry(_ kind: String, _ number: Int, _ columns: [String: String]) -> EntityMapping {
    let types: [String: AttributeType] = [
      "words": .int64, "length": .double, "secret": .data,
    ]
    let kinds = ["Article", "Video"].map { Enumeration.Case(name: $0, rawValue: .string($0)) }
    return EntityMapping(
      entity: "Item", table: "ZITEM", filter: RowFilter(isOneOf: ["Z_ENT": ["\(number)"]]),
      key: ["Z_PK"],
      attributes: [
        AttributeMapping(
          attribute: "kind", type: .enumeration(Enumeration(cases: kinds)),
          source: .constant(.string(kind)))
      ]
        + columns.sorted { $0.value < $1.value }.map {
          AttributeMapping(
            attribute: $0.key, type: types[$0.key] ?? .string, source: .column($0.value))
        })
  }

  private func schema(after steps: [MigrationStep]) throws -> Schema {
    var files = [("0001_made", Array(Self.migration.utf8))]
    if !steps.isEmpty {
      let text = MigrationText.yaml(of: steps, line: "made", summary: "What is new")
      files.append(("0002_made", Array(text.utf8)))
    }
    return try Schema(of: MigrationLine.load([MigrationSource(embedded: files)]))
  }
}
