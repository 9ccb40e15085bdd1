import EntityModel
import Foundation
import StrictYAML
import TestSupport

@testable import EntityObjects
@testable import EntityStore
@testable import Maintenance
@testable import Migrations
@testable import SchemaFiles

/// Random steps of every kind that a file can contain, with texts that YAML could misread.
struct RandomWrittenSteps {
  var random: SeededRandom

  init(seed: UInt64) { random = SeededRandom(seed: seed) }

  mutating func step(_ verb: MigrationVerb) throws -> MigrationStep {
    let (entity, name) = (name("E"), name("a"))
    switch verb {
    case .createEntity:
      var attributes: [AttributeDescription] = []
      for number in 0..<int(0...4) { attributes.append(attribute("n\(number)")) }
      return .createEntity(name: entity, attributes: attributes, keepsHistory: flag())
    case .renameEntity: return .renameEntity(name: entity, newName: self.name("F"))
    case .dropEntity: return .dropEntity(name: entity)
    case .addAttribute:
      return .addAttribute(entity: entity, attribute(name), ifMissing: flag())
    case .renameAttribute:
      return .renameAttribute(entity: entity, name: name, newName: self.name("b"))
    case .changeAttribute: return .changeAttribute(change(entity, name))
    case .retypeAttribute:
      let new = attribute(name)
      return .retypeAttribute(
        AttributeRetyping(
          entity: entity, name: name, type: new.type, isOptional: flag() ? flag() : nil,
          owner: flag() ? .local : nil, defaultValue: new.defaultValue, validation: new.validation,
          conversion: flag()
            ? .none : Conversion(trims: flag(), nullValues: [text()], orElse: .null)))
    case .derive:
      return .deriveAttribute(
        AttributeDerivation(
          entity: entity, attribute: attribute(name),
          expression: .arithmetic(.add, .path("x"), .value(.string(text())))))
    case .dropAttribute: return .dropAttribute(entity: entity, name: name)
    case .createIndex: return .createIndex(entity: entity, index())
    case .changeIndex: return .changeIndex(entity: entity, index())
    case .dropIndex: return .dropIndex(entity: entity, name: name)
    case .createRelationship: return .createRelationship(relationship(entity, name))
    case .changeRelationship:
      return .changeRelationship(entity: entity, name: name, deleteRule: one(DeleteRule.allCases))
    case .dropRelationship: return .dropRelationship(entity: entity, name: name)
    case .createTemplate:
      var request = FetchRequest(
        entityName: entity, predicate: predicate(), fetchLimit: int(0...3).unlessZero,
        fetchOffset: int(0...3))
      if flag() {
        request.sortBy = [SortKey("a.b", descending: flag(), collation: .localizedStandard("zh"))]
      }
      return .createTemplate(RequestTemplate(name: name, request: request))
    case .dropTemplate: return .dropTemplate(name: name)
    case .setHistory:
      return .setHistory(
        HistorySetting(entity: entity, isKept: flag() ? flag() : nil, values: flag() ? [name] : nil)
      )
    case .retainHistory:
      return .retainHistory(
        HistoryRetention(
          age: Double(int(1...30)) * 86_400, bytes: int(1...9) << 20,
          consumerAge: Double(int(30...99)) * 86_400, consumerBytes: int(9...99) << 20))
    case .updateRows:
      return .updateRows(
        RowUpdate(entity: entity, predicate: predicate(), set: [name: assignment(), "z": .now]))
    case .deleteRows: return .deleteRows(entity: entity, predicate())
    case .assert:
      let least = int(0...2)
      return .assert(
        RowAssertion(
          entity: entity, predicate: predicate(),
          count: least...(flag() ? .max : least + int(0...2)),
          message: flag() ? text() : nil))
    case .runCode:
      return .runCode(
        CodeReference(entity: entity, name: name, revision: int(1...9), changes: ["x", name]))
    case .importLegacy:
      return .importLegacy(
        LegacyImportReference(
          source: "old.\(int(0...9))", isOptional: flag(), mapping: try mapping()))
    }
  }

  // MARK: Parts

  private mutating func attribute(_ name: String) -> AttributeDescription {
    let enumerations = [
      Enumeration(cases: [.init(name: "new", rawValue: "new"), .init(name: "a b", rawValue: "a b")]
      ),
      Enumeration(cases: [.init(name: "null", rawValue: -1), .init(name: "two", rawValue: 2)]),
    ]
    let values: [(AttributeType, Value)] = [
      (.int64, .int64(Int64(int(-5...5)))), (.double, .double(Double(int(-50...50)) / 8)),
      (.double, .double(.leastNonzeroMagnitude)), (.double, 1e300), (.bool, .bool(flag())),
      (.string, .string(text())),
      (.decimal, .decimal(Decimal(int(-999...999)) / 100)), (.strings, .strings([text(), text()])),
      (.date, .date(Date(timeIntervalSince1970: Double(int(0...2_000_000_000))))),
      (.uuid, .uuid(UUID(uuidString: "12345678-1234-4234-8234-123456789012") ?? UUID())),
      (.data, .data(Data(random.bytes(count: int(0...9))))),
      (.url, .url(URL(filePath: "/a#b"))), (.enumeration(enumerations[0]), "a b"),
      (.enumeration(enumerations[1]), -1),
    ]
    let (type, value) = one(values)
    var attribute = AttributeDescription(
      name: name, type: type, isOptional: flag(), defaultValue: flag() ? value : .null,
      owner: flag() ? .local : .feed, keepsHistory: flag())
    if flag(), type.kind != .strings { attribute.validation.min = value }
    if flag(), type.kind != .strings { attribute.validation.max = value }
    if flag() { attribute.validation.maxLength = 1_000 + int(0...9) }
    if flag() { attribute.validation.pattern = #"(?s).*[^"\\]?(: #)?.*"# }
    return attribute
  }

  private mutating func change(_ entity: String, _ name: String) -> AttributeChange {
    var change = AttributeChange(entity: entity, name: name)
    change.isOptional = flag() ? flag() : nil
    if change.isOptional == false, flag() { change.backfill = assignment() }
    if change.backfill == .value(.null) { change.backfill = nil }
    change.defaultValue = flag() ? fileValue() : nil
    change.owner = flag() ? .feed : nil
    if flag() { change.rules.min = flag() ? .goes : .becomes(fileValue(orNull: false)) }
    if flag() { change.rules.max = flag() ? .goes : .becomes(fileValue(orNull: false)) }
    if flag() { change.rules.maxLength = flag() ? .goes : .becomes(int(0...9)) }
    if flag() { change.rules.pattern = flag() ? .goes : .becomes("[a-z]{1,3}") }
    if change == AttributeChange(entity: entity, name: name) { change.isOptional = true }
    return change
  }

  private mutating func index() -> IndexDefinition {
    let collations: [Collation] = [
      .binary, .caseInsensitive, .localizedStandard, .localizedStandard("de"),
    ]
    var index = IndexDefinition(
      name: name("i"),
      keys: (0...int(0...3)).map { number in
        .init(attribute: "k\(number)", isDescending: flag(), collation: one(collations))
      }, isUnique: flag(), isSparse: flag())
    if index.isUnique { index.onViolation = one(UniqueViolationRule.allCases) }
    return index
  }

  private mutating func relationship(_ entity: String, _ name: String) -> RelationshipDefinition {
    let isToMany = flag()
    let key: [RelationshipDefinition.KeyPair] =
      !isToMany && flag() ? [.init(own: "a", other: "c"), .init(own: "b", other: "d")] : []
    let isInverseToMany = flag()
    let isOrdered = isToMany && flag()
    let side = RelationshipDefinition.Side(
      name: name, isToMany: isToMany, isOrdered: isOrdered,
      orderBy: isToMany && !isOrdered && !isInverseToMany ? "position" : nil,
      isOptional: isToMany || !key.isEmpty || flag(), deleteRule: one(DeleteRule.allCases))
    let inverse = RelationshipDefinition.Side(
      name: "back", isToMany: isInverseToMany, isOrdered: isInverseToMany && key.isEmpty && flag(),
      orderBy: nil, isOptional: true, deleteRule: one(DeleteRule.allCases))
    return RelationshipDefinition(
      entity: entity, destination: self.name("D"), side: side, inverse: flag() ? inverse : nil,
      key: key)
  }

  private mutating func predicate() -> FetchPredicate? {
    flag() ? .or([.isNull("a"), .comparison("b", .equal, .string(text()))]) : nil
  }

  private mutating func assignment() -> AttributeAssignment {
    switch int(0...3) {
    case 0: .now
    case 1: .expression(.arithmetic(.divide, .path("duration"), .value(60)))
    case 2: .value(.decimal(Decimal(int(0...99)) / 8))
    default: .value(fileValue())
    }
  }

  /// A value as a file has it.
  private mutating func fileValue(orNull: Bool = true) -> Value {
    switch int(orNull ? 0...5 : 1...5) {
    case 0: .null
    case 1: .int64(Int64(int(-9...9)))
    case 2: .double(Double(int(-99...99)) / 4)
    case 3: .bool(flag())
    case 4: .strings([text()])
    default: .string(text())
    }
  }

  /// Returns a random tree. Only the importer interprets a mapping, so its content is arbitrary.
  private mutating func mapping() throws -> YAMLNode {
    var file = MappingText()
    file.add(text() + "k", text())
    file.add("list", .list([.text(text()), .mapping([]), .texts([text(), text()])]))
    file.add("flag", flag())
    let lines = file.entries.map { entry in
      WrittenYAML.quotedIfNeeded(entry.key) + ":" + entry.value.text(at: 0, after: 20)
    }
    let bytes = Array((lines.joined(separator: "\n") + "\n").utf8)
    return try YAMLDocument.parse(bytes: bytes, file: "random")
  }

  private mutating func text() -> String {
    let texts = [
      "", "null", "~", "true", "5", "-1.50", "1e3", "a", "a b", "a: b", "a #b", "- a", "[a]", "{a}",
      "'", "\"", "\\", "\n", "ä€😀", "now", "a,b", "x == \"y\"", "*a", "&a", "!a", "@a", "%a", "a:",
      " a", "a ", "a  b", "|", ">", "?", "0x1F", "2026-11-20T10:00:00Z", "no", "\u{2028}",
      String(repeating: "long ", count: 30) + "end",
    ]
    return one(texts)
  }

  private mutating func name(_ prefix: String) -> String { prefix + String(int(0...99)) }
  private mutating func flag() -> Bool { Bool.random(using: &random) }
  private mutating func int(_ range: ClosedRange<Int>) -> Int {
    Int.random(in: range, using: &random)
  }
  private mutating func one<T>(_ choices: [T]) -> T { choices[int(0...choices.count - 1)] }
}
