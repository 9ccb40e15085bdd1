public import Foundation

/// One attribute of an entity, as the catalog stores it.
public struct AttributeDescription: Codable, Hashable, Sendable {
  /// The id that the catalog has assigned, unique within the entity and never used again.
  public var id: Int
  public var name: String
  public var type: AttributeType
  public var isOptional: Bool
  /// The value of a record that has none, and of an insert that does not give one.
  public var defaultValue: Value
  public var owner: AttributeOwner
  public var validation: Validation
  /// True if the change history stores the value that a change replaces.
  public var keepsHistory: Bool

  public init(
    id: Int = 0, name: String, type: AttributeType, isOptional: Bool = false,
    defaultValue: Value = .null, owner: AttributeOwner = .feed, validation: Validation = .none,
    keepsHistory: Bool = false
  ) {
    self.id = id
    self.name = name
    self.type = type
    self.isOptional = isOptional
    self.defaultValue = defaultValue
    self.owner = owner
    self.validation = validation
    self.keepsHistory = keepsHistory
  }

  /// Reads an attribute. A member that an older catalog lacks has the default of `init`.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      id: try container.decode(Int.self, forKey: .id),
      name: try container.decode(String.self, forKey: .name),
      type: try container.decode(AttributeType.self, forKey: .type),
      isOptional: try container.decode(Bool.self, forKey: .isOptional),
      defaultValue: try container.decode(Value.self, forKey: .defaultValue),
      owner: try container.decode(AttributeOwner.self, forKey: .owner),
      validation: try container.decode(Validation.self, forKey: .validation),
      keepsHistory: try container.decodeIfPresent(Bool.self, forKey: .keepsHistory) ?? false)
  }

  /// True for an attribute that the catalog created for a relationship; its name begins with an
  /// underscore.
  public var isHidden: Bool { name.hasPrefix("_") }
}

/// The side that may write an attribute: a sync writes only what the feed owns, people only what is
/// local.
public enum AttributeOwner: String, Codable, Hashable, Sendable {
  case feed, local
}

/// The type of an attribute.
public enum AttributeType: Codable, Hashable, Sendable {
  case int64, double, decimal, bool, string, date, uuid, data, url, strings
  /// Named raw values. A raw value without a name is stored unchanged.
  case enumeration(Enumeration)
  /// The record id of a record of the named entity; to-one relationships are stored in such
  /// attributes.
  case reference(String)

  /// The kind in which its values are stored.
  public var kind: ValueKind {
    switch self {
    case .int64: .int64
    case .double: .double
    case .decimal: .decimal
    case .bool: .bool
    case .string: .string
    case .date: .date
    case .uuid: .uuid
    case .data: .data
    case .url: .url
    case .strings: .strings
    case .enumeration(let enumeration): enumeration.kind
    case .reference: .int64
    }
  }

  /// The name of the type in a migration file.
  public var name: String {
    switch self {
    case .enumeration: "enum"
    case .reference: "reference"
    default: kind.rawValue
    }
  }
}

/// The cases of an enumeration attribute; all raw values are integers or all are strings.
public struct Enumeration: Codable, Hashable, Sendable {
  /// A named raw value.
  public struct Case: Codable, Hashable, Sendable {
    public var name: String
    public var rawValue: Value

    public init(name: String, rawValue: Value) {
      self.name = name
      self.rawValue = rawValue
    }
  }
  public var cases: [Case]

  public init(cases: [Case]) { self.cases = cases }

  public var kind: ValueKind { cases.first?.rawValue.kind ?? .string }

  /// Returns the name of a raw value; `nil` if it has none.
  public func name(of rawValue: Value) -> String? {
    cases.first { $0.rawValue == rawValue }?.name
  }
}

extension AttributeDescription {
  /// Reads a value of this attribute as a person enters it: the form of `Value.text`, or the name
  /// of an enumeration's case.
  ///
  /// - Parameter now: The date that the word `now` stands for.
  /// - Returns: `nil` if the text is no value of the attribute's type. `null` is not a value of an
  ///   optional attribute; for a required one it may be a text like any other.
  public func value(of text: String, now: Date) -> Value? {
    if case .enumeration(let enumeration) = type,
      let named = enumeration.cases.first(where: { $0.name == text })
    {
      return named.rawValue
    }
    if text == "null", isOptional { return .null }
    return Value(text: text, as: type.kind, now: now)
  }
}
