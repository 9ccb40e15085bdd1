import CMooringXXHash
import EntityModel
import Foundation
import StrictYAML

/// Reads a migration file (the dialect of `StrictYAML`; the format is documented in
/// Migrations/README.md).
struct MigrationFile {
  private let file: String
  private let name: String

  /// - Parameter name: The file name without its extension: `NNNN_slug`.
  static func read(_ bytes: [UInt8], name: String, file: String) throws -> Migration {
    try MigrationFile(file: file, name: name).migration(
      try YAMLDocument.parse(bytes: bytes, file: file))
  }

  private func migration(_ root: YAMLNode) throws -> Migration {
    var mapping = try root.mapping()
    let lineNode = try mapping.required("line")
    let line = try lineNode.string()
    let summary = try mapping.required("summary").string()
    let requires = try mapping.optional("requires")?.sequence().map(requirement) ?? []
    let steps = try mapping.required("steps").sequence()
    try mapping.finish()
    guard let version = Int(name.prefix { $0.isNumber }), version >= 1 else {
      throw root.error("the file is named \"\(name)\"; name it NNNN_slug.yaml, from 0001 on")
    }
    guard line.wholeMatch(of: /[a-z][a-z0-9.-]{0,63}/) != nil else {
      throw lineNode.error(
        "\"\(line)\" is no name of a line; use lower-case letters, digits, - and .")
    }
    let isSystem = line == "system" || line.hasPrefix("system.")
    return Migration(
      line: line, version: version, name: name, summary: summary, requires: requires,
      steps: try steps.map { try step($0, isSystem: isSystem) }, checksum: checksum(of: root))
  }

  private func requirement(_ node: YAMLNode) throws -> Migration.Requirement {
    let parts = try node.string().split(separator: "@")
    guard parts.count == 2, let version = Int(parts[1]), version >= 1 else {
      throw node.error("write a requirement as line@version, for example homefeed@1")
    }
    return .init(line: String(parts[0]), version: version)
  }

  private func step(_ node: YAMLNode, isSystem: Bool) throws -> MigrationStep {
    var mapping = try node.mapping()
    guard mapping.keys.count == 1, let verb = mapping.keys.first?.key else {
      throw node.error("a step is one key, the verb, with its arguments")
    }
    let body = try mapping.required(verb)
    var arguments = try body.mapping()
    let step: MigrationStep
    switch verb {
    case "createEntity": step = try createEntity(&arguments, isSystem: isSystem)
    case "addAttribute":
      let entity = try arguments.required("to").string()
      step = .addAttribute(entity: entity, try attribute(&arguments))
    case "createIndex": step = try createIndex(&arguments)
    case "dropIndex":
      let entity = try arguments.required("on").string()
      step = .dropIndex(entity: entity, name: try arguments.required("name").string())
    case "createRelationship": step = try createRelationship(&arguments)
    case "createTemplate": step = try createTemplate(&arguments)
    case "dropTemplate":
      step = .dropTemplate(name: try arguments.required("name").string())
    case "setHistory":
      step = .setHistory(
        HistorySetting(
          entity: try arguments.required("on").string(),
          isKept: try arguments.optional("keep")?.bool(),
          values: try arguments.optional("values")?.sequence().map { try $0.string() }))
    case "retainHistory": step = .retainHistory(try retention(&arguments))
    default:
      throw node.error(
        "unknown step \"\(verb)\"; known are createEntity, addAttribute, createIndex, dropIndex, "
          + "createRelationship, createTemplate, dropTemplate, setHistory, retainHistory")
    }
    try arguments.finish()
    return step
  }

  private func createEntity(
    _ arguments: inout YAMLMapping, isSystem: Bool
  ) throws -> MigrationStep {
    let node = try arguments.required("name")
    let name = try identifier(node, allowsUnderscore: isSystem)
    if isSystem != name.hasPrefix("_") {
      throw node.error("names of system entities, and only those, begin with an underscore")
    }
    var attributes: [AttributeDescription] = []
    for node in try arguments.required("attributes").sequence() {
      var mapping = try node.mapping()
      let attribute = try attribute(&mapping)
      try mapping.finish()
      if attributes.contains(where: { $0.name == attribute.name }) {
        throw node.error("\(name) has two attributes named \(attribute.name)")
      }
      attributes.append(attribute)
    }
    let keepsHistory = try arguments.optional("history")?.bool() ?? true
    return .createEntity(name: name, attributes: attributes, keepsHistory: keepsHistory)
  }

  private func retention(_ arguments: inout YAMLMapping) throws -> HistoryRetention {
    func bound(_ key: String, atMost maximum: Int64, least: Int64 = 1) throws -> Int64 {
      let node = try arguments.required(key)
      let number = try node.int()
      guard (least...maximum).contains(number) else {
        throw node.error("\(key) is from \(least) to \(maximum)")
      }
      return number
    }
    let days = try bound("days", atMost: 36_500)
    let megabytes = try bound("megabytes", atMost: 1 << 20)
    return HistoryRetention(
      age: Double(days) * 86_400, bytes: Int(megabytes) << 20,
      consumerAge: Double(try bound("consumerDays", atMost: 36_500, least: days)) * 86_400,
      consumerBytes: Int(try bound("consumerMegabytes", atMost: 1 << 20, least: megabytes)) << 20)
  }

  private func createIndex(_ arguments: inout YAMLMapping) throws -> MigrationStep {
    let entity = try arguments.required("on").string()
    let name = try identifier(try arguments.required("name"), allowsUnderscore: false)
    let keys = try arguments.required("keys").sequence().map(key)
    guard !keys.isEmpty, keys.count <= IndexLayout.keyPartsMax else {
      throw arguments.error("an index has 1 to \(IndexLayout.keyPartsMax) keys")
    }
    let definition = IndexDefinition(
      name: name, keys: keys, isUnique: try arguments.optional("unique")?.bool() ?? false,
      isSparse: try arguments.optional("sparse")?.bool() ?? false)
    return .createIndex(entity: entity, definition)
  }

  /// `attribute [COLLATION] [asc|desc]`
  private func key(_ node: YAMLNode) throws -> IndexDefinition.Key {
    var words = try node.string().split(separator: " ")[...]
    let name = words.popFirst()
    var collation = Collation.binary
    if let found = words.first.flatMap({ Collation(text: String($0)) }) {
      collation = found
      words.removeFirst()
    }
    let direction = words.popFirst() ?? "asc"
    guard let name, words.isEmpty, ["asc", "desc"].contains(direction) else {
      throw node.error(
        "write a key as `attribute`, `attribute desc` or with a collation before desc: localized, "
          + "localized(zh), caseInsensitive")
    }
    do throws(StoreError) {
      _ = try KeyCollation.of(collation)
    } catch {
      throw node.error("\(error)")
    }
    return IndexDefinition.Key(
      attribute: String(name), isDescending: direction == "desc", collation: collation)
  }

  private func attribute(_ arguments: inout YAMLMapping) throws -> AttributeDescription {
    let name = try identifier(try arguments.required("name"), allowsUnderscore: false)
    let type = try type(&arguments)
    let owner = try arguments.optional("owner").map { node in
      guard let owner = AttributeOwner(rawValue: try node.string()) else {
        throw node.error("an owner is feed or local")
      }
      return owner
    }
    var attribute = AttributeDescription(
      name: name, type: type, isOptional: try arguments.optional("optional")?.bool() ?? false,
      owner: owner ?? .feed, keepsHistory: try arguments.optional("keepHistory")?.bool() ?? false)
    let kind = type.kind
    attribute.validation.min = try arguments.optional("min").map { try value($0, kind) } ?? .null
    attribute.validation.max = try arguments.optional("max").map { try value($0, kind) } ?? .null
    attribute.validation.maxLength = try arguments.optional("maxLength").map(length)
    if let node = arguments.optional("pattern") {
      attribute.validation.pattern = try node.string()
      _ = try validator(attribute, node)
    }
    if let node = arguments.optional("default") {
      attribute.defaultValue = try value(node, kind)
      if let failure = try validator(attribute, node).failure(of: attribute.defaultValue) {
        throw node.error("the default of \(name): \(failure)")
      }
    }
    return attribute
  }

  private func type(_ arguments: inout YAMLMapping) throws -> AttributeType {
    let node = try arguments.required("type")
    let name = try node.string()
    let values = arguments.optional("values")
    if name == "enum" {
      guard let values else { throw node.error("an enum names its values") }
      return .enumeration(try enumeration(values))
    }
    if let values { throw values.error("only an enum has values") }
    switch name {
    case "int64": return .int64
    case "double": return .double
    case "decimal": return .decimal
    case "bool": return .bool
    case "string": return .string
    case "date": return .date
    case "uuid": return .uuid
    case "data": return .data
    case "url": return .url
    case "strings": return .strings
    default:
      throw node.error(
        "unknown type \"\(name)\"; known are int64, double, decimal, bool, string, date, uuid, "
          + "data, url, enum, strings")
    }
  }

  /// `[new, played]` has the names as raw values, `{ free: 1, members: 2 }` has integers.
  private func enumeration(_ node: YAMLNode) throws -> Enumeration {
    var cases: [Enumeration.Case] = []
    if node.kind == .sequence {
      cases = try node.sequence().map {
        let name = try $0.string()
        return .init(name: name, rawValue: .string(name))
      }
    } else {
      var mapping = try node.mapping()
      for (key, _) in mapping.keys {
        cases.append(.init(name: key, rawValue: .int64(try mapping.required(key).int())))
      }
      cases.sort { $0.rawValue.compared(with: $1.rawValue) == .ascending }
    }
    guard !cases.isEmpty else { throw node.error("an enum has at least one value") }
    guard Set(cases.map(\.rawValue)).count == cases.count else {
      throw node.error("two values of the enum are the same")
    }
    return Enumeration(cases: cases)
  }

  private func value(_ node: YAMLNode, _ kind: ValueKind) throws -> Value {
    try node.value(kind, now: .distantPast)
  }

  private func length(_ node: YAMLNode) throws -> Int {
    let length = try node.int()
    guard length >= 0, length <= Limits.recordBytesMax else {
      throw node.error("a length is from 0 to \(Limits.recordBytesMax)")
    }
    return Int(length)
  }

  private func validator(
    _ attribute: AttributeDescription, _ node: YAMLNode
  ) throws -> AttributeValidator {
    do {
      return try AttributeValidator(attribute)
    } catch {
      throw node.error("the pattern of \(attribute.name) cannot be read: \(error)")
    }
  }

  func identifier(_ node: YAMLNode, allowsUnderscore: Bool) throws -> String {
    let name = try node.string()
    let isValid =
      allowsUnderscore
      ? name.wholeMatch(of: /_?[A-Za-z][A-Za-z0-9]{0,62}/) != nil
      : name.wholeMatch(of: /[A-Za-z][A-Za-z0-9_]{0,62}/) != nil
    guard isValid else {
      throw node.error(
        "\"\(name)\" is no name; use a letter, then letters, digits or _, at most 63")
    }
    return name
  }

  private func checksum(of root: YAMLNode) -> String {
    var text = root.canonical
    let hash = text.withUTF8 { mooring_xxh3_128($0.baseAddress, $0.count) }
    let hex = [hash.high, hash.low].map { word in
      let digits = String(word, radix: 16)
      return String(repeating: "0", count: 16 - digits.count) + digits
    }
    return "c1:" + hex.joined()
  }
}
