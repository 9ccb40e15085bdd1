import EntityModel
import Foundation
import TestSupport

@testable import LegacyImport

/// Random mappings to the entities of ``MappedSchema/podcasts()``, with unusual names.
struct RandomMapping {
  private var random: SeededRandom

  init(seed: UInt64) { random = SeededRandom(seed: seed) }

  mutating func mapping(_ schema: Schema) -> ImportMapping {
    let feeds = name()
    var mapping = ImportMapping(
      name: "podcasts", dialect: random.pick(SourceDialect.allCases), evidence: evidence())
    mapping.rejectLimit =
      random.oneIn(2)
      ? .count(Int64(random.number(0...1_000)))
      : .share(Double(random.number(0...100_000)) / 100_000)
    if random.oneIn(4) {
      mapping.lostTables[name()] = "CREATE TABLE t (a, \"b: c\" TEXT DEFAULT '#')"
    }
    mapping.entities = [entity(schema, "Feed", ["url", "title"], feeds)]
    for _ in 0..<random.number(0...2) {
      var article = entity(
        schema, "Article",
        ["guid", "title", "publishedAt", "artwork", "duration", "price", "words"],
        name())
      article.relationships = [
        RelationshipMapping(
          relationship: "feed", source: .columns(names()), table: feeds,
          orphan: random.pick(RelationshipMapping.Orphan.allCases), evidence: evidence(),
          unconfirmed: random.oneIn(3) ? text() : nil)
      ]
      mapping.entities.append(article)
    }
    for _ in 0..<random.number(0...2) { mapping.skippedTables.insert(name()) }
    for _ in 0..<random.number(0...2) { mapping.skippedColumns[name()] = Set(names()) }
    return mapping
  }

  private mutating func entity(
    _ schema: Schema, _ entity: String, _ attributes: [String], _ table: String
  ) -> EntityMapping {
    var mapping = EntityMapping(entity: entity, table: table, key: names(), evidence: evidence())
    if random.oneIn(2) { mapping.match = [attributes[0]] }
    for _ in 0..<random.number(0...2) {
      mapping.filter.isOneOf[name()] = random.oneIn(2) ? [nil, word()] : [word(), word()]
    }
    for _ in 0..<random.number(0...1) { mapping.filter.isNoneOf[name()] = [word()] }
    for (place, name) in attributes.enumerated() where place == 0 || random.oneIn(2) {
      guard let type = schema.entity(named: entity)?.attribute(named: name)?.type else { continue }
      mapping.attributes.append(attribute(name, type))
    }
    return mapping
  }

  private mutating func attribute(_ attribute: String, _ type: AttributeType) -> AttributeMapping {
    var mapping = AttributeMapping(
      attribute: attribute, type: type, source: .column(name()), evidence: evidence())
    if random.oneIn(5), type == .string {
      mapping.source = .constant(.string(text()))
      return mapping
    }
    if random.oneIn(4) {
      mapping.content = .archive(
        classes: Set(names()), keepsBytes: type == .data && random.oneIn(2))
    } else if type == .data, random.oneIn(2) {
      mapping.content = .external
      mapping.missingFile = random.pick(AttributeMapping.MissingFile.allCases)
    }
    if random.oneIn(3) { mapping.badText = random.pick(AttributeMapping.BadText.allCases) }
    if random.oneIn(3) { mapping.unconfirmed = text() }
    if random.oneIn(2) {
      mapping.conversion = Conversion(
        trims: random.oneIn(2), emptyIsNull: random.oneIn(2), nullValues: [word(), word()])
      if type == .date { mapping.conversion.date = random.pick(Conversion.DateForm.allCases) }
      if type == .int64 { mapping.conversion.round = random.pick(Conversion.Rounding.allCases) }
    }
    return mapping
  }

  // MARK: Texts

  /// Returns the name of a table or a column: any text that SQLite allows.
  private mutating func name() -> String {
    random.oneIn(2) ? "Z" + text() : random.pick(Self.oddNames) + String(random.number(0...99))
  }

  private mutating func names() -> [String] {
    var names: [String] = []
    for _ in 0..<random.number(1...3) {
      let name = name()
      if !names.contains(name) { names.append(name) }
    }
    return names
  }

  private mutating func word() -> String {
    random.oneIn(2) ? String(random.number(-9...9)) : text() + "x"
  }

  private mutating func text() -> String {
    String(
      String.UnicodeScalarView((0..<random.number(1...8)).map { _ in random.pick(Self.scalars) }))
  }

  private mutating func evidence() -> [String] {
    (0..<random.number(0...2)).map { _ in text() + " " + text() }
  }

  private static let oddNames = ["null", "true", "~", "- a", "#", "{ a: b }", "1e", "\"", "'", "é"]
  private static let scalars: [Unicode.Scalar] = [
    "a", "Z", "0", " ", "\"", "\\", "#", ":", ",", "[", "}", "\n", "\t", "\u{0}", "\u{85}",
    "\u{2028}",
    "\u{FEFF}", "\u{FFFF}", "é", "漢", "😀", "-", "_",
  ]
}
