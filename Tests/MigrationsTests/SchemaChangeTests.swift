import EntityModel
import Foundation
import Testing

@testable import EntityStore
@testable import Migrations

/// The effect of each step on the schema.
@Suite struct SchemaChangeTests {
  private let before: Schema

  init() throws { before = try MigrationText.library() }

  /// The schema after some steps, which contradicts itself nowhere.
  private func after(_ steps: String...) throws -> Schema {
    var change = SchemaChange(schema: before)
    for step in steps { try change.apply(try MigrationText.step(step)) }
    #expect(SchemaSequence.problems(of: change.schema) == [])
    #expect(SchemaSequence.violations(from: before, to: change.schema) == [])
    return change.schema
  }

  private func book(_ schema: Schema) throws -> EntityDescription {
    try #require(schema.entity(named: "Book"))
  }

  // MARK: Attributes that may exist

  @Test func anAttributeThatMayExistStaysAsItIs() throws {
    let step = "addAttribute: { to: Book, name: image, type: url, optional: true, ifMissing: true }"
    let own = "addAttribute: { to: Book, name: image, type: string, default: x, owner: local }"
    #expect(try after(own, step) == after(own))
    #expect(try book(after(step)).attribute(named: "image")?.type == .url)
    // A relationship of the name stays too.
    #expect(try after(step.replacing("image", with: "authors")) == before)
    let error = #expect(throws: StoreError.self) {
      try after(own, step.replacing(", ifMissing: true", with: ""))
    }
    #expect(error?.description.contains("choose another name") == true)
  }

  // MARK: Entities

  @Test func aRenamedEntityIsRenamedWhereverItIsNamed() throws {
    let schema = try after(
      "createTemplate: { name: all, entity: Person, where: ANY books SATISFIES (pages > 3) }",
      "renameEntity: { name: Book, to: Volume }")
    #expect(schema.entity(named: "Book") == nil)
    let volume = try #require(schema.entity(named: "Volume"))
    #expect(volume.id == before.entity(named: "Book")?.id)
    let chapter = try #require(schema.entity(named: "Chapter"))
    #expect(chapter.attribute(named: "book")?.type == .reference("Volume"))
    #expect(chapter.relationship(named: "book")?.destination == "Volume")
    #expect(schema.entity(named: "Person")?.relationship(named: "books")?.destination == "Volume")
    // The hidden entity keeps its name, and its references follow.
    #expect(
      schema.entity(named: "_Book_authors")?.attribute(named: "from")?.type == .reference("Volume"))
    #expect(schema.templates.map(\.request.entityName) == ["Person", "Volume"])
  }

  @Test func recordsInTheTemplatesOfARenamedEntityFollow() throws {
    var request = FetchRequest(entityName: "Person")
    let book = FetchExpression.object(ObjectID(entity: "Book", number: 3))
    request.predicate = .and([
      .not(.exists("books", .comparison(.init(.itself, .equal, book)))),
      .or([.always(true), .comparison(.init(.itself, .isIn, .list([.negative(book)])))]),
    ])
    request.renameEntity("Book", to: "Volume")
    let volume = FetchExpression.object(ObjectID(entity: "Volume", number: 3))
    #expect(
      request.predicate
        == .and([
          .not(.exists("books", .comparison(.init(.itself, .equal, volume)))),
          .or([.always(true), .comparison(.init(.itself, .isIn, .list([.negative(volume)])))]),
        ]))
    #expect(request.entityName == "Person")
  }

  @Test func aDroppedEntityIsGoneAndItsIdStays() throws {
    let schema = try after(
      "createEntity: { name: Shelf, attributes: [{ name: row, type: int64 }] }",
      "createIndex: { on: Shelf, name: byRow, keys: [row] }",
      "dropEntity: { name: Shelf, destructive: true }",
      "createEntity: { name: Shelf, attributes: [{ name: row, type: int64 }] }")
    #expect(schema.entity(named: "Shelf")?.id == before.nextEntityID + 1)
    #expect(schema.entity(named: "Shelf")?.indexes.isEmpty == true)
  }

  // MARK: Attributes

  @Test func aRenamedAttributeKeepsEverythingElse() throws {
    let schema = try after("renameAttribute: { on: Book, name: pages, to: length }")
    var expected = try book(before)
    let position = try #require(expected.attributes.firstIndex { $0.name == "pages" })
    expected.attributes[position].name = "length"
    #expect(try book(schema) == expected)
  }

  @Test func aDroppedAttributeIsInNoNewLayout() throws {
    let schema = try after("dropAttribute: { on: Book, name: cover, destructive: true }")
    let (old, new) = (try book(before), try book(schema))
    #expect(new.attribute(named: "cover") == nil)
    #expect(new.layouts.count == old.layouts.count + 1)
    #expect(new.layouts.last == RecordShape(of: new.attributes))
    #expect(new.nextAttributeID == old.nextAttributeID)
  }

  @Test func anAttributeOfTheNameOfADroppedOneIsAnotherOne() throws {
    let schema = try after(
      "dropAttribute: { on: Book, name: cover, destructive: true }",
      "addAttribute: { to: Book, name: cover, type: url, optional: true }")
    let (old, new) = (try book(before), try book(schema))
    #expect(new.attribute(named: "cover")?.id == old.nextAttributeID)
  }

  @Test func rulesThatAreNotNamedStay() throws {
    let schema = try after(
      "changeAttribute: { on: Book, name: pages, max: null, owner: local }",
      "changeAttribute: { on: Book, name: title, optional: true, default: null, pattern: \"[a-z]*\" }",
      "changeAttribute: { on: Book, name: isbn, maxLength: null }",
      "changeAttribute: { on: Book, name: price, default: 2, min: 0.1 }",
      "changeAttribute: { on: Book, name: state, values: { new: 1, old: 2, gone: 3 }, default: gone }",
      "changeAttribute: { on: Book, name: cover, default: AQI= }",
      "changeAttribute: { on: Book, name: added, default: 2001-01-01T00:00:01Z }")
    let new = try book(schema)
    let pages = try #require(new.attribute(named: "pages"))
    #expect(pages.validation == Validation(min: .int64(1)))
    #expect(pages.owner == .local && pages.isOptional && pages.keepsHistory)
    let title = try #require(new.attribute(named: "title"))
    #expect(title.isOptional && title.defaultValue.isNull)
    #expect(title.validation == Validation(pattern: "[a-z]*"))
    #expect(new.attribute(named: "isbn")?.validation == Validation.none)
    #expect(new.attribute(named: "price")?.defaultValue == .decimal(2))
    #expect(new.attribute(named: "price")?.validation.min == .decimal(Decimal(string: "0.1")!))
    #expect(new.attribute(named: "state")?.defaultValue == 3)
    #expect(new.attribute(named: "cover")?.defaultValue == .data(Data([1, 2])))
    #expect(
      new.attribute(named: "added")?.defaultValue == .date(Date(timeIntervalSinceReferenceDate: 1)))
    // The catalog alone changes.
    #expect(try new.layouts == book(before).layouts)
    #expect(try new.attributes.map(\.id) == book(before).attributes.map(\.id))
  }

  @Test(
    "An attribute that ceases to be optional may have a backfill",
    arguments: ["7", "{ expression: price * 100 }", "{ expression: chapters.@count }"])
  func backfill(value: String) throws {
    let schema = try after(
      "changeAttribute: { on: Book, name: pages, optional: false, backfill: \(value) }")
    #expect(try book(schema).attribute(named: "pages")?.isOptional == false)
  }

  @Test func anotherTypeIsAnotherAttributeInTheSamePlace() throws {
    let schema = try after("retypeAttribute: { on: Book, name: pages, type: string, maxLength: 9 }")
    let (old, new) = (try book(before), try book(schema))
    let was = try #require(old.attribute(named: "pages"))
    let pages = try #require(new.attribute(named: "pages"))
    #expect(new.attributes.map(\.name) == old.attributes.map(\.name))
    #expect(pages.id == old.nextAttributeID && new.nextAttributeID == pages.id + 1)
    #expect(pages.type == .string && pages.validation == Validation(maxLength: 9))
    #expect(pages.isOptional && pages.keepsHistory && pages.owner == was.owner)
    // The first layout has both, the second the new one alone.
    #expect(new.layouts.count == old.layouts.count + 2)
    #expect(new.layouts[new.layouts.count - 2] == RecordShape(of: old.attributes + [pages]))
    #expect(new.layouts.last == RecordShape(of: new.attributes))
    for name in ["byTitle", "byPages"] {
      let (was, index) = (
        try #require(old.index(named: name)), try #require(new.index(named: name))
      )
      #expect(index.id == was.id && index.generation == was.generation + 1)
      #expect(index.keys.last?.attributeID == pages.id)
      #expect(index.keys.last?.isDescending == was.keys.last?.isDescending)
      #expect(index.collationVersion == was.collationVersion)
    }
    #expect(new.index(named: "byISBN") == old.index(named: "byISBN"))
  }

  @Test func whatRetypingNamesIsChanged() throws {
    let schema = try after(
      "retypeAttribute: { on: Book, name: added, type: int64, optional: false, default: 5, owner: feed }"
    )
    let added = try #require(try book(schema).attribute(named: "added"))
    #expect(!added.isOptional && added.defaultValue == 5 && added.owner == .feed)
  }

  @Test func codeGivesItsAttributesNewIdsInOnePairOfLayouts() throws {
    let schema = try after(
      "runCode: { on: Book, name: c, revision: 1, changes: [title, pages] }")
    let (old, new) = (try book(before), try book(schema))
    var expected = old.attributes
    for (place, name) in ["title", "pages"].enumerated() {
      let position = try #require(expected.firstIndex { $0.name == name })
      expected[position].id = old.nextAttributeID + place
    }
    #expect(new.attributes == expected)
    #expect(new.layouts.count == old.layouts.count + 2)
    #expect(new.layouts[new.layouts.count - 2].slots.count == old.attributes.count + 2)
    #expect(new.index(named: "byTitle")?.generation == 2)
    #expect(new.index(named: "byTitle")?.keys.map(\.attributeID) == expected[1...2].map(\.id))
  }

  @Test func aDerivedAttributeMayBeRequiredWithoutADefault() throws {
    let schema = try after("derive: { on: Book, name: cents, type: decimal, from: price * 100 }")
    let new = try book(schema)
    #expect(new.attributes.last?.name == "cents")
    #expect(new.attributes.last?.isOptional == false)
    #expect(try new.layouts.count == book(before).layouts.count + 1)
  }

  // MARK: Indexes

  @Test func aChangedIndexKeepsItsId() throws {
    let schema = try after(
      "changeIndex: { on: Book, name: byTitle, keys: [title caseInsensitive, isbn desc], sparse: true }"
    )
    let (old, new) = (try book(before), try book(schema))
    let (was, index) = (
      try #require(old.index(named: "byTitle")), try #require(new.index(named: "byTitle"))
    )
    #expect(index.id == was.id && index.generation == 2)
    #expect(new.keyText(of: index) == "title caseInsensitive, isbn desc")
    #expect(index.isSparse && !index.isUnique)
    #expect(index.collationVersion != was.collationVersion && index.collationVersion != nil)
    #expect(schema.nextIndexID == before.nextIndexID)
    let plain = try book(try after("changeIndex: { on: Book, name: byTitle, keys: [title] }"))
    #expect(plain.index(named: "byTitle")?.collationVersion == nil)
  }

  // MARK: Relationships

  @Test func aDeleteRuleChangesAlone() throws {
    let schema = try after("changeRelationship: { on: Book, name: chapters, deleteRule: cascade }")
    #expect(try book(schema).relationship(named: "chapters")?.deleteRule == .cascade)
    #expect(schema.entity(named: "Chapter") == before.entity(named: "Chapter"))
  }

  @Test(
    "A relationship is dropped from either side, with its inverse and indexes",
    arguments: [
      "dropRelationship: { on: Chapter, name: book, destructive: true }",
      "dropRelationship: { on: Book, name: chapters, destructive: true }",
    ])
  func references(step: String) throws {
    let schema = try after(step)
    let chapter = try #require(schema.entity(named: "Chapter"))
    #expect(chapter.attributes.map(\.name) == ["number", "text"])
    #expect(chapter.indexes.isEmpty && chapter.relationships.isEmpty)
    #expect(chapter.layouts.last == RecordShape(of: chapter.attributes))
    #expect(try book(schema).relationship(named: "chapters") == nil)
  }

  @Test func aKeyAndItsOrderStayWithoutTheRelationship() throws {
    let schema = try after("dropRelationship: { on: Book, name: reviews, destructive: true }")
    let (old, new) = (before.entity(named: "Review"), schema.entity(named: "Review"))
    #expect(new?.attributes == old?.attributes && new?.layouts == old?.layouts)
    #expect(new?.relationship(named: "book") == nil && new?.index(named: "_book") == nil)
    #expect(new?.relationship(named: "author") != nil)
  }

  @Test func linksGoWithTheirEntity() throws {
    let schema = try after(
      "dropRelationship: { on: Person, name: books, destructive: true }",
      "dropRelationship: { on: Person, name: friends, destructive: true }")
    #expect(schema.entity(named: "_Book_authors") == nil)
    #expect(schema.entity(named: "_Person_friends") == nil)
    #expect(schema.entity(named: "Person")?.relationships.map(\.name) == ["_Review_author"])
  }

  @Test func aRelationshipWithoutAnInverseIsDroppedWithItsHiddenInverse() throws {
    let schema = try after("dropRelationship: { on: Review, name: author, destructive: true }")
    let person = try #require(schema.entity(named: "Person"))
    #expect(person.relationships.allSatisfy { !$0.isHidden })
  }

  @Test func everythingCanBeDroppedInTheRightOrder() throws {
    let schema = try after(
      "dropTemplate: { name: thick }",
      "dropRelationship: { on: Person, name: friends, destructive: true }",
      "dropRelationship: { on: Book, name: authors, destructive: true }",
      "dropRelationship: { on: Review, name: book, destructive: true }",
      "dropRelationship: { on: Review, name: author, destructive: true }",
      "dropRelationship: { on: Book, name: chapters, destructive: true }",
      "dropEntity: { name: Person, destructive: true }",
      "dropEntity: { name: Review, destructive: true }",
      "dropEntity: { name: Chapter, destructive: true }",
      "dropEntity: { name: Book, destructive: true }")
    #expect(schema.entities.isEmpty)
  }

  // MARK: Rows

  @Test(
    "Steps on records leave the schema as it is",
    arguments: [
      "updateRows: { on: Book, where: ANY authors.name == 'x', set: { pages: 5, state: old } }",
      "updateRows: { on: Book, set: { added: now, title: { expression: isbn }, cover: AQI= } }",
      "updateRows: { on: Chapter, set: { book: null } }",
      "updateRows: { on: Review, set: { author: { expression: author } } }",
      "deleteRows: { on: Review, where: book.pages > 3, destructive: true }",
      "assert: { on: Book, where: chapters.@count == 0, count: 0 }",
    ])
  func rows(step: String) throws {
    #expect(try after(step) == before)
  }
}
