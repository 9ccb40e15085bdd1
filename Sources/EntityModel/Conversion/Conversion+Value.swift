import Foundation

extension Conversion {
  /// Converts one value.
  ///
  /// Without rules, whole numbers, doubles and decimals become each other where no digit is lost;
  /// booleans are 1 and 0; every value becomes a text (`Value.text`), and a text becomes a value if
  /// the whole text is one. Texts of numbers have no separators and no spaces. A UUID is 36 or 32
  /// characters, or 16 bytes. A number becomes a date, and a text a list, only if the conversion
  /// has a rule for it. An enumeration accepts every value of its own kind, and of other kinds only
  /// what becomes one of its cases, by raw value or name.
  ///
  /// - Returns: A value of the type's kind, or null. The rules of the attribute, and if it may be
  ///   null, are not checked here.
  /// - Throws: The reason why the value cannot be converted, unless ``orElse`` has a value for it.
  /// - Complexity: O(size of the value).
  public func value(
    from value: Value, to type: AttributeType
  ) throws(ConversionFailure) -> Value {
    do throws(ConversionFailure) {
      return try converted(value, to: type)
    } catch {
      switch orElse {
      case .refuse: throw error
      case .null: return .null
      case .value(let other): return try checked(other, type)
      }
    }
  }

  private func converted(_ value: Value, to type: AttributeType) throws(ConversionFailure) -> Value
  {
    guard let value = try prepared(value, for: type) else { return .null }
    if !cases.isEmpty {
      guard let word = Conversion.word(of: value), let found = cases[word] else {
        throw .init(.enumUnknown, value, "is none of the cases")
      }
      return try checked(found, type)
    }
    switch type {
    case .reference:
      throw .init(.typeMismatch, value, "cannot become a reference; link records instead")
    case .enumeration(let enumeration): return try rawValue(value, of: enumeration)
    default: return try self.value(value, as: type.kind)
    }
  }

  // MARK: Preparation

  /// The value with its text prepared; `nil` for null and for the words that stand for null.
  private func prepared(
    _ value: Value, for type: AttributeType
  ) throws(ConversionFailure) -> Value? {
    var value = value
    if case .data(let data) = value, let encoding, type.kind != .data {
      value = .string(try encoding.text(of: data))
    }
    switch value {
    case .null: return nil
    case .string(let text):
      let text = prepared(text)
      if emptyIsNull, text.isEmpty { return nil }
      value = .string(text)
    case .strings(let list): value = .strings(prepared(list))
    default: break
    }
    if !nullValues.isEmpty, let word = Conversion.word(of: value), nullValues.contains(word) {
      return nil
    }
    return value
  }

  func prepared(_ list: [String]) -> [String] {
    let list = list.map(prepared)
    return emptyIsNull ? list.filter { !$0.isEmpty } : list
  }

  private func prepared(_ text: String) -> String {
    var text = text
    if trims { text = Conversion.trimmed(text) }
    if normalizes { text = text.precomposedStringWithCanonicalMapping }
    if lowercases { text = text.lowercased() }
    return text
  }

  private static func trimmed(_ text: String) -> String {
    let scalars = text.unicodeScalars
    guard let first = scalars.firstIndex(where: { !$0.properties.isWhitespace }),
      let last = scalars.lastIndex(where: { !$0.properties.isWhitespace })
    else { return "" }
    return String(scalars[first...last])
  }

  /// The text that is looked up in ``nullValues`` and ``cases``; `nil` for data and lists.
  package static func word(of value: Value) -> String? {
    switch value {
    case .null, .data, .strings: nil
    case .string(let text): text
    // A column may hold 0 and 0.0.
    case .double(let number): Int64(exactly: number).map(String.init) ?? number.description
    default: value.text
    }
  }

  // MARK: Kinds

  private func rawValue(
    _ value: Value, of enumeration: Enumeration
  ) throws(ConversionFailure) -> Value {
    if value.kind == enumeration.kind { return value }
    if case .string(let name) = value,
      let found = enumeration.cases.first(where: { $0.name == name })
    {
      return found.rawValue
    }
    let converted: Value
    do throws(ConversionFailure) {
      converted = try self.value(value, as: enumeration.kind)
    } catch  where error.code != .typeMismatch {
      throw .init(.enumUnknown, value, "is no case of the enumeration")
    }
    guard enumeration.name(of: converted) != nil else {
      throw .init(.enumUnknown, value, "is no case of the enumeration")
    }
    return converted
  }

  private func value(_ value: Value, as kind: ValueKind) throws(ConversionFailure) -> Value {
    if value.isNotANumber { throw .init(.badNumber, value, "is not a number (NaN)") }
    var value = value
    if let date {
      if kind == .date, value.kind != .date {
        return try clamped(date.date(of: value, zoneMinutes: zone))
      }
      if kind != .date {
        guard case .date(let moment) = value else {
          throw .init(.typeMismatch, value, "is no date; only one of the two kinds may be another")
        }
        value = try date.value(
          of: moment, zoneMinutes: zone, asDouble: kind == .double, mayRound: round != nil)
      }
    }
    switch kind {
    case .int64: return try clamped(integer(value))
    case .double: return try clamped(double(value))
    case .decimal: return try clamped(decimal(value))
    case .date: return try clamped(moment(value))
    case .bool: return try bool(value)
    case .string: return try text(value)
    case .uuid: return try uuid(value)
    case .data: return try data(value)
    case .url: return try url(value)
    case .strings: return try list(value)
    }
  }

  /// The zone offset, bounded to one day, as a program may set any number.
  private var zone: Int? { zoneMinutes.map { min(max($0, -1_439), 1_439) } }

  private func clamped(_ value: Value) -> Value {
    if atLeast.kind == value.kind, value.compared(with: atLeast) == .ascending { return atLeast }
    if atMost.kind == value.kind, value.compared(with: atMost) == .descending { return atMost }
    return value
  }

  /// Checks the kind of a value that the conversion itself names. Files are checked when they are
  /// read, conversions that a program builds are not.
  private func checked(_ value: Value, _ type: AttributeType) throws(ConversionFailure) -> Value {
    if let kind = value.kind, kind != type.kind {
      throw .init(.typeMismatch, value, "is no \(type.kind.rawValue); correct the conversion")
    }
    return value
  }
}
