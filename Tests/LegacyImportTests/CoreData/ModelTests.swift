import EntityModel
import EntityStore
import TestSupport
import Testing

@testable import EntityObjects
@testable import LegacyImport

/// The model in the file, the numbers of its entities, and where its properties are.
@Suite struct ModelTests {
  private typealias Model = ManagedObjectModel

  @Test func theArchiveOfAModelIsReadBack() throws {
    let model = try Podcasts.model()
    #expect(try ModelArchive.model(in: ModelWriter.archive(of: model)) == model)
    #expect(
      try ModelArchive.model(in: RawDeflate.inflated(ModelWriter.bytes(of: model))) == model)
  }

  @Test func inheritanceIsFollowed() throws {
    let model = try Podcasts.model()
    #expect(model.lineage(of: "Episode").map(\.name) == ["Episode", "Item"])
    #expect(model.root(of: "Article")?.name == "Item")
    #expect(model.subtree(of: "Item").map(\.name) == ["Article", "Episode", "Item"])
    #expect(model.lineage(of: "Unknown").isEmpty)
    let items = try #require(model.lineage(of: "Feed").first?.relationships.first)
    #expect(model.inverse(of: items)?.entity.name == "Item")
  }

  @Test func modelsThatCannotBeAreRefused() {
    let circle: [Model.Entity] = [
      .init(name: "A", superentity: "B"), .init(name: "B", superentity: "A"),
    ]
    let wide = (0..<600).map { Model.Attribute(name: "a\($0)", type: .int64) }
    var deep: [Model.Entity] = [.init(name: "E0", attributes: wide)]
    deep += (1..<1_000).map { .init(name: "E\($0)", superentity: "E0") }
    let cases: [([Model.Entity], String)] = [
      (circle, "has too many above it"),
      ([.init(name: "A", superentity: "C")], "is not in the model"),
      ([.init(name: "A"), .init(name: "A")], "the entity A twice"), (deep, "too many properties"),
    ]
    for (entities, text) in cases {
      let error = #expect(throws: ArchiveDamage.self) { try Model(entities: entities) }
      #expect(error?.text.contains(text) == true, "\(error?.text ?? "")")
    }
  }

  /// Ten thousand entities that all have the ten thousand properties of one object.
  @Test func propertiesThatManyEntitiesShareAreCountedForEach() throws {
    var archive = ArchiveWriter()
    let name = archive.add(.string("a"))
    let property = archive.add(
      "NSAttributeDescription", ["NSPropertyName": name, "NSAttributeType": .int64(100)])
    let properties = archive.add(
      "NSDictionary",
      [
        "NS.keys": .array([PropertyListValue](repeating: name, count: 1_000)),
        "NS.objects": .array([PropertyListValue](repeating: property, count: 1_000)),
      ])
    let entities = (0..<200).map { number in
      let own = archive.add(.string("E\(number)"))
      return (
        "E\(number)",
        archive.add("NSEntityDescription", ["NSEntityName": own, "NSProperties": properties])
      )
    }
    let root = archive.add("NSManagedObjectModel", ["NSEntities": archive.dictionary(entities)])
    let error = #expect(throws: ArchiveDamage.self) {
      try ModelArchive.model(in: archive.bytes(root: root))
    }
    #expect(error?.text == "the model has too many properties")
  }

  // MARK: Numbers

  @Test func anEntityThatWasRenamedKeepsTheNumberOfItsFormerName() throws {
    let model = try Model(entities: [
      .init(name: "Car"),
      .init(name: "LuxuryCar", superentity: "Car", renamingIdentifier: "ExpensiveCar"),
      .init(name: "Van", superentity: "Car"),
    ])
    let rows = [
      NumberedEntity(number: 1, name: "Car", above: 0),
      NumberedEntity(number: 2, name: "ExpensiveCar", above: 1),
      NumberedEntity(number: 3, name: "Lorry", above: 1),
      NumberedEntity(number: 16_001, name: "CHANGE", above: 0),
    ]
    let numbers = EntityNumbers(of: model, in: rows)
    #expect(numbers.byName == ["Car": 1, "LuxuryCar": 2, "Van": 3])
    #expect(numbers.warnings.count == 2)
    // Of two that are left nothing says which is which.
    let unsure = EntityNumbers(
      of: model,
      in: [rows[0]]
        + [2, 3].map {
          NumberedEntity(number: $0, name: "Old\($0)", above: 1)
        })
    #expect(unsure.byName == ["Car": 1])
    #expect(unsure.warnings.count == 4)
  }

  // MARK: Layout

  @Test func equalNamesInBranchesGetDigitsInTheOrderOfTheNumbers() throws {
    let model = try Model(entities: [
      .init(name: "Thing"),
      .init(
        name: "Attachment", superentity: "Thing", attributes: [Podcasts.attribute("title", .string)]
      ),
      .init(name: "Note", superentity: "Thing", attributes: [Podcasts.attribute("title", .string)]),
      .init(
        name: "Folder", superentity: "Thing", attributes: [Podcasts.attribute("title", .string)]),
    ])
    let rows = ["Thing", "Note", "Attachment", "Folder"].enumerated().map {
      NumberedEntity(number: Int64($0 + 1), name: $1, above: $0 == 0 ? 0 : 1)
    }
    let layout = StoreLayout(
      of: model, numbers: EntityNumbers(of: model, in: rows),
      in: [table("ZTHING", ["Z_PK", "Z_ENT", "Z_OPT", "ZTITLE", "ZTITLE1", "ZTITLE2", "ZOTHER"])])
    #expect(layout.attributes[.init("Note", "title")] == "ZTITLE")
    #expect(layout.attributes[.init("Attachment", "title")] == "ZTITLE1")
    #expect(layout.attributes[.init("Folder", "title")] == "ZTITLE2")
    #expect(layout.unexplained == ["ZTHING": ["ZOTHER"]])
    #expect(layout.columnsExplained == 6 && layout.columnsTotal == 7)
  }

  @Test func tablesOfLinksAreFoundByTheirColumns() throws {
    func many(_ name: String, _ inverse: String) -> Model.Relationship {
      .init(name: name, destination: "Person", inverse: inverse, isToMany: true)
    }
    let model = try Model(entities: [
      .init(
        name: "Person",
        relationships: [
          many("members", "membersInverse"), many("membersInverse", "members"),
          many("friends", "friends"), many("rivals", "rivals"),
        ])
    ])
    let numbers = EntityNumbers(
      of: model, in: [NumberedEntity(number: 6, name: "Person", above: 0)])
    let layout = StoreLayout(
      of: model, numbers: numbers,
      in: [
        table("ZPERSON", ["Z_PK", "Z_ENT", "Z_OPT"]),
        table("Z_6ANYTHING", ["Z_6MEMBERSINVERSE", "Z_6MEMBERS1", "Z_FOK_6MEMBERS1"]),
        table("Z_6FRIENDS", ["Z_6FRIENDS", "REFLEXIVE"]),
      ])
    #expect(
      layout.joins[.init("Person", "members")]
        == .init(
          table: "Z_6ANYTHING", owner: "Z_6MEMBERSINVERSE", target: "Z_6MEMBERS1",
          order: "Z_FOK_6MEMBERS1"))
    #expect(
      layout.joins[.init("Person", "membersInverse")]
        == .init(
          table: "Z_6ANYTHING", owner: "Z_6MEMBERS1", target: "Z_6MEMBERSINVERSE", order: nil))
    #expect(
      layout.joins[.init("Person", "friends")]
        == .init(table: "Z_6FRIENDS", owner: "REFLEXIVE", target: "Z_6FRIENDS", order: nil))
    #expect(layout.missing == ["the table of Person.rivals"])
    #expect(layout.unexplained.isEmpty)
  }

  private func table(_ name: String, _ columns: [String]) -> SourceTable {
    SourceTable(
      name: name, kind: .table,
      columns: columns.map {
        SourceColumn(name: $0, declaredType: "", isRequired: false)
      }, hasRowID: true, primaryKey: [], rowIDAlias: nil, foreignKeys: [], uniqueKeys: [])
  }
}
