import EntityModel

/// The Swift types of entities, as text of one file that compiles beside the library.
struct SwiftSource {
  private let entities: [EntityDescription]

  init(_ entities: [EntityDescription]) { self.entities = entities }

  var text: String {
    let types = entities.map(TypeSource.init)
    var text = "public import EntityStore\n"
    if types.contains(where: \.needsFoundation) { text += "public import Foundation\n" }
    for type in types { text += "\n" + type.text }
    return text
  }
}

/// One entity's type.
private struct TypeSource {
  private let entity: EntityDescription
  private let name: String
  private let attributes: [Property]
  private let relationships: [RelationshipDescription]

  struct Property {
    let description: AttributeDescription
    let name: String
    let type: String
    /// The cases of an enumeration, as members of its type.
    let cases: [String]
  }

  init(_ entity: EntityDescription) {
    self.entity = entity
    name = SwiftNames.type(entity.name)
    relationships = entity.relationships.filter { !$0.isHidden }
    var taken = Set(relationships.map { SwiftNames.type($0.destination) } + [name])
    let names = Set(relationships.map(\.name))
    attributes = entity.attributes.compactMap { attribute in
      // What holds a relationship is read as the relationship.
      if names.contains(attribute.name) || attribute.name.hasPrefix("_") { return nil }
      var cases: [String] = []
      var type = attribute.type.kind.swiftType
      if case .enumeration(let enumeration) = attribute.type {
        type = SwiftNames.enumeration(attribute.name, taken: taken)
        taken.insert(type)
        cases = SwiftNames.cases(enumeration.cases.map(\.name))
      }
      return Property(
        description: attribute, name: SwiftNames.property(attribute.name), type: type, cases: cases)
    }
  }

  var needsFoundation: Bool { attributes.contains { $0.description.type.kind.isOfFoundation } }

  var text: String {
    let parts = [properties, enumerations, lists, reading, memberwise].filter { !$0.isEmpty }
    return "public struct \(name): Entity {\n" + parts.joined(separator: "\n") + "}\n"
  }

  private var properties: String {
    let values = attributes.map { "  public var \($0.name): \(type(of: $0))\n" }
    let links = relationships.map { link in
      let name = SwiftNames.property(link.name)
      return link.isToMany
        ? "  public var \(name) = \(type(of: link))(\"\(link.name)\")\n"
        : "  public var \(name): \(type(of: link))\n"
    }
    return (values + links).joined()
  }

  private func type(of property: Property) -> String {
    property.type + (property.description.isOptional ? "?" : "")
  }

  private func type(of relationship: RelationshipDescription) -> String {
    let destination = SwiftNames.type(relationship.destination)
    if relationship.isToMany { return "ToMany<\(destination)>" }
    return "ToOne<\(destination)>" + (relationship.isOptional ? "?" : "")
  }

  /// A struct for each, which keeps raw values that it does not know.
  private var enumerations: String {
    attributes.compactMap { property in
      guard case .enumeration(let enumeration) = property.description.type else { return nil }
      let raw = enumeration.kind.swiftType
      let cases = zip(property.cases, enumeration.cases).map { name, named in
        "    public static let \(name) = \(property.type)(rawValue: \(named.rawValue.literal))\n"
      }
      return """
          public struct \(property.type): RawRepresentable, AttributeValue, Codable, Hashable {
            public var rawValue: \(raw)

            public init(rawValue: \(raw)) { self.rawValue = rawValue }

        \(cases.joined())  }

        """
    }.joined(separator: "\n")
  }

  private var lists: String {
    var text = ""
    if name != entity.name, name != "`\(entity.name)`" {
      text += "  public static let entityName = \"\(entity.name)\"\n"
    }
    text += list(
      "attributes: [EntityAttribute<\(name)>]", attributes.map { ($0.description.name, $0.name) })
    if !relationships.isEmpty {
      text += list(
        "relationships: [EntityRelationship<\(name)>]",
        relationships.map { ($0.name, SwiftNames.property($0.name)) })
    }
    return text
  }

  private func list(_ head: String, _ members: [(name: String, property: String)]) -> String {
    let inits = members.map { ".init(\"\($0.name)\", \\.\($0.property))" }
    if inits.count < 2 { return "  public static let \(head) = [\(inits.joined())]\n" }
    let lines = inits.map { "    \($0),\n" }
    return "  public static let \(head) = [\n" + lines.joined() + "  ]\n"
  }

  private var reading: String {
    let names =
      attributes.map { ($0.description.name, $0.name) }
      + relationships.map { ($0.name, SwiftNames.property($0.name)) }
    let lines = names.map { "    self.\($0.1) = try record[\"\($0.0)\"]\n" }
    return "  public init(from record: inout RecordReader) throws {\n" + lines.joined() + "  }\n"
  }

  private var memberwise: String {
    var parameters: [String] = []
    var lines = ""
    for property in attributes {
      let value = property.description.type.literal(property.description.defaultValue, property)
      let otherwise = value ?? (property.description.isOptional ? "nil" : nil)
      parameters.append(
        "\(property.name): \(type(of: property))" + (otherwise.map { " = \($0)" } ?? ""))
      lines += "    self.\(property.name) = \(property.name)\n"
    }
    for link in relationships where !link.isToMany {
      let name = SwiftNames.property(link.name)
      parameters.append("\(name): \(type(of: link))" + (link.isOptional ? " = nil" : ""))
      lines += "    self.\(name) = \(name)\n"
    }
    if parameters.isEmpty { return "  public init() {}\n" }
    return "  public init(\n    " + parameters.joined(separator: ",\n    ") + "\n  ) {\n" + lines
      + "  }\n"
  }
}

extension AttributeType {
  /// A default as a parameter has it; `nil` if none is set, or none that a literal can say.
  fileprivate func literal(_ value: Value, _ property: TypeSource.Property) -> String? {
    if case .enumeration(let enumeration) = self {
      let number = enumeration.cases.firstIndex { $0.rawValue == value }
      return number.map { "\(property.type).\(property.cases[$0])" }
    }
    switch value {
    case .int64, .bool, .string, .strings: return value.literal
    case .double(let number): return number.isFinite ? value.literal : nil
    case .null, .decimal, .date, .uuid, .data, .url: return nil
    }
  }
}

extension Value {
  /// The value as a Swift literal, or nil if its type has none.
  fileprivate var literal: String {
    switch self {
    case .string(let text): text.debugDescription
    case .strings(let list): "[" + list.map(\.debugDescription).joined(separator: ", ") + "]"
    case .double(let number): "\(number)"
    default: text
    }
  }
}

extension ValueKind {
  fileprivate var swiftType: String {
    switch self {
    case .int64: "Int64"
    case .double: "Double"
    case .decimal: "Decimal"
    case .bool: "Bool"
    case .string: "String"
    case .date: "Date"
    case .uuid: "UUID"
    case .data: "Data"
    case .url: "URL"
    case .strings: "[String]"
    }
  }

  fileprivate var isOfFoundation: Bool {
    switch self {
    case .decimal, .date, .uuid, .data, .url: true
    case .int64, .double, .bool, .string, .strings: false
    }
  }
}
