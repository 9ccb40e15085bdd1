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
