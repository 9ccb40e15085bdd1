extension ScalarValue {
  /// Copies a value of a document. O(size of the value).
  init(_ value: JSONValue) {
    switch value.kind {
    case .null: self = .null
    case .bool: self = .bool(value.bool ?? false)
    case .int64: self = .int64(value.int64 ?? 0)
    case .double: self = .double(value.double ?? 0)
    case .string: self = .string(value.text)
    case .array:
      let strings = value.elements.compactMap(\.string)
      self = strings.count == value.count ? .strings(strings) : .unrepresentable(value.text)
    case .object, .unrepresentable: self = .unrepresentable(value.text)
    }
  }
}

/// Builds a list of fields in which a repeated name replaces the earlier value.
struct FieldList {
  private(set) var fields: [Field] = []
  /// Positions by name; filled only for lists that are slow to search.
  private var positions: [String: Int] = [:]

  init(capacity: Int) {
    fields.reserveCapacity(capacity)
  }

  mutating func set(_ name: String, _ value: ScalarValue) {
    if let position = position(of: name) {
      fields[position].value = value
    } else {
      append(name, value)
    }
  }

  /// Adds a field whose name the list does not have.
  mutating func append(_ name: String, _ value: ScalarValue) {
    if !positions.isEmpty { positions[name] = fields.count }
    fields.append(Field(name: name, value: value))
  }

  private mutating func position(of name: String) -> Int? {
    if fields.count < 32 { return fields.firstIndex { $0.name == name } }
    if positions.isEmpty {
      for (position, field) in fields.enumerated() { positions[field.name] = position }
    }
    return positions[name]
  }
}
