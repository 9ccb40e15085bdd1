import EntityModel

/// Names of a schema as identifiers of a Swift file.
enum SwiftNames {
  /// The name of an entity's type.
  static func type(_ entity: String) -> String {
    reservedTypes.contains(entity) ? entity + "Record" : escaped(entity)
  }

  /// The name of an enumeration's type inside its entity's: that of its attribute with a capital
  /// letter, unless the file means something else by it.
  static func enumeration(_ attribute: String, taken: Set<String>) -> String {
    let name = attribute.prefix(1).uppercased() + attribute.dropFirst()
    return reservedTypes.contains(name) || taken.contains(name) ? name + "Value" : name
  }

  /// The names of an enumeration's cases, which may be any texts, as members of its type.
  static func cases(_ names: [String]) -> [String] {
    var taken: Set<String> = []
    return names.map { name in
      var candidate = identifier(name)
      while !taken.insert(candidate).inserted { candidate += "_" }
      return escaped(candidate)
    }
  }

  static func property(_ name: String) -> String {
    escaped(reservedMembers.contains(name) ? name + "Value" : name)
  }

  private static func escaped(_ name: String) -> String {
    keywords.contains(name) ? "`\(name)`" : name
  }

  /// `in progress` becomes `inProgress`.
  private static func identifier(_ text: String) -> String {
    let words = text.split { !($0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_")) }
    let rest = words.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }
    let name = (words.first.map(String.init) ?? "unnamed") + rest.joined()
    if name.first?.isNumber == true { return "_" + name }
    return reservedMembers.contains(name) || name.allSatisfy({ $0 == "_" }) ? name + "Value" : name
  }

  /// The types that the generated files use, and the names that no type can have.
  private static let reservedTypes: Set<String> = [
    "Any", "Bool", "Codable", "Data", "Date", "Decimal", "Double", "Entity", "EntityAttribute",
    "EntityRelationship", "AttributeValue", "Foundation", "EntityStore", "Hashable", "Int64",
    "Optional", "Protocol", "RawRepresentable", "RecordReader", "Self", "String", "ToMany", "ToOne",
    "Type", "URL", "UUID",
  ]

  /// The names that have a meaning of their own after a dot.
  private static let reservedMembers: Set<String> = ["Protocol", "Type", "init", "self"]

  private static let keywords: Set<String> = [
    "Any", "Protocol", "Self", "Type", "as", "associatedtype", "break", "case", "catch", "class",
    "continue", "default", "defer", "deinit", "do", "else", "enum", "extension", "fallthrough",
    "false", "fileprivate", "for", "func", "guard", "if", "import", "in", "init", "inout",
    "internal", "is", "let", "nil", "operator", "precedencegroup", "private", "protocol", "public",
    "repeat", "rethrows", "return", "self", "static", "struct", "subscript", "super", "switch",
    "throw", "throws", "true", "try", "typealias", "var", "where", "while",
  ]
}
