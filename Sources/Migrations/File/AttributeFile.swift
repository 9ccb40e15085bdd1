import EntityModel
import EntityStore
import Foundation
import SchemaFiles
import StrictYAML

/// Reads the description of an attribute: its type, its rules, its default.
extension MigrationFile {
  func attribute(_ arguments: inout YAMLMapping) throws -> AttributeDescription {
    let name = try identifier(try arguments.required("name"))
    let type = try type(&arguments)
    let owner = try owner(&arguments)
    var attribute = AttributeDescription(
      name: name, type: type, isOptional: try arguments.optional("optional")?.bool() ?? false,
      owner: owner ?? .feed, keepsHistory: try arguments.optional("keepHistory")?.bool() ?? false)
    try readRules(&arguments, of: &attribute)
    return attribute
  }

  func owner(_ arguments: inout YAMLMapping) throws -> AttributeOwner? {
    try arguments.optional("owner").map { node in
      guard let owner = AttributeOwner(rawValue: try node.string()) else {
        throw node.error("an owner is feed or local")
      }
      return owner
    }
  }

  /// Reads the rules, and the default, which must satisfy them.
  func readRules(
    _ arguments: inout YAMLMapping, of attribute: inout AttributeDescription
  ) throws {
    let kind = attribute.type.kind
    func value(_ node: YAMLNode) throws -> Value {
      if kind == .date, try node.string() == "now" {
        throw node.error("this is a constant, and now is none; write 2026-11-20T10:00:00Z")
      }
      return try node.value(kind, now: .distantPast)
    }
    attribute.validation.min = try arguments.optional("min").map(value) ?? .null
    attribute.validation.max = try arguments.optional("max").map(value) ?? .null
    attribute.validation.maxLength = try arguments.optional("maxLength").map(length)
    if let node = arguments.optional("pattern") {
      attribute.validation.pattern = try pattern(node, of: attribute.name)
    }
    guard let node = arguments.optional("default") else { return }
    attribute.defaultValue = try value(node)
    if let failure = try AttributeValidator(attribute).failure(of: attribute.defaultValue) {
      throw node.error("the default of \(attribute.name): \(failure)")
    }
  }

  func length(_ node: YAMLNode) throws -> Int {
    let length = try node.int()
    guard length >= 0, length <= StoreLimits.recordBytesMax else {
      throw node.error("a length is from 0 to \(StoreLimits.recordBytesMax)")
    }
    return Int(length)
  }

  /// Reads a pattern.
  ///
  /// - Returns: A pattern that is a valid regular expression.
  func pattern(_ node: YAMLNode, of name: String) throws -> String {
    let pattern = try node.string()
    do {
      _ = try Regex(pattern)
    } catch {
      throw node.error("the pattern of \(name) cannot be read: \(error)")
    }
    return pattern
  }

  func type(_ arguments: inout YAMLMapping) throws -> AttributeType {
    let node = try arguments.required("type")
    let name = try node.string()
    let values = arguments.optional("values")
    if name == "enum" {
      guard let values else { throw node.error("an enum names its values") }
      return .enumeration(try enumeration(values))
    }
    if let values { throw values.error("only an enum has values") }
    guard let kind = ValueKind(rawValue: name) else {
      throw node.error(
        "unknown type \"\(name)\"; known are int64, double, decimal, bool, string, date, uuid, "
          + "data, url, enum, strings")
    }
    return AttributeType(of: kind)
  }

  /// Reads the values of an enumeration: `[new, played]` has the names as raw values, `{ free: 1,
  /// members: 2 }` has integers.
  func enumeration(_ node: YAMLNode) throws -> Enumeration {
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
}

extension AttributeType {
  /// Creates the type of a kind without further properties.
  init(of kind: ValueKind) {
    switch kind {
    case .int64: self = .int64
    case .double: self = .double
    case .decimal: self = .decimal
    case .bool: self = .bool
    case .string: self = .string
    case .date: self = .date
    case .uuid: self = .uuid
    case .data: self = .data
    case .url: self = .url
    case .strings: self = .strings
    }
  }
}
