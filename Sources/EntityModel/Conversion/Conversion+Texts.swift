import Foundation

/// The conversion of texts, and of values into texts.
extension Conversion {
  func moment(_ value: Value) throws(ConversionFailure) -> Value {
    switch value {
    case .date: return value
    case .string: return try DateForm.rfc3339.date(of: value, zoneMinutes: nil)
    case .int64, .double, .decimal:
      throw .init(.typeMismatch, value, "is a number; say with date: which date it is")
    default: throw mismatch(value, .date)
    }
  }

  func text(_ value: Value) throws(ConversionFailure) -> Value {
    guard case .strings(let list) = value, let separator else { return .string(value.text) }
    let joined = list.joined(separator: separator)
    guard .strings(Conversion.parts(of: joined, separator)) == value else {
      throw .init(.badList, value, "cannot be joined: its text would be split into another list")
    }
    return .string(joined)
  }

  func list(_ value: Value) throws(ConversionFailure) -> Value {
    switch value {
    case .strings: return value
    case .string(let text):
      guard let separator, !separator.isEmpty else {
        throw .init(.typeMismatch, value, "is no list; say with separator: where to split")
      }
      return .strings(prepared(Conversion.parts(of: text, separator)))
    default: throw mismatch(value, .strings)
    }
  }

  /// Splits a text at each separator, byte by byte, so that a separator before a combining accent
  /// is found, too. Returns an empty list for an empty text.
  private static func parts(of text: String, _ separator: String) -> [String] {
    if text.isEmpty || separator.isEmpty { return text.isEmpty ? [] : [text] }
    return text.utf8.split(separator: separator.utf8, omittingEmptySubsequences: false)
      .map { String(Substring($0)) }
  }

  func url(_ value: Value) throws(ConversionFailure) -> Value {
    switch value {
    case .url: return value
    case .string(let text):
      guard let url = URL(string: text) else { throw .init(.badURL, value, "is no URL") }
      return .url(url)
    default: throw mismatch(value, .url)
    }
  }

  func uuid(_ value: Value) throws(ConversionFailure) -> Value {
    switch value {
    case .uuid: return value
    case .string(let text):
      guard let uuid = Conversion.uuid(text) else { throw .init(.badUUID, value, "is no UUID") }
      return .uuid(uuid)
    case .data(let data):
      guard let uuid = Conversion.uuid(data) else {
        throw .init(.badUUID, value, "are no UUID, which has 16")
      }
      return .uuid(uuid)
    default: throw mismatch(value, .uuid)
    }
  }

  func data(_ value: Value) throws(ConversionFailure) -> Value {
    switch value {
    case .data: return value
    case .string(let text): return .data(try (encoding ?? .base64).data(of: text))
    case .uuid(let uuid): return .data(withUnsafeBytes(of: uuid.uuid) { Data($0) })
    default: throw mismatch(value, .data)
    }
  }

  func mismatch(_ value: Value, _ kind: ValueKind) -> ConversionFailure {
    .init(.typeMismatch, value, "cannot become a \(kind.rawValue)")
  }

  private static func uuid(_ text: String) -> UUID? {
    switch text.utf8.count {
    case 36: UUID(uuidString: text)
    case 32: Encoding.bytes(ofHex: text).flatMap(uuid)
    default: nil
    }
  }

  private static func uuid(_ data: Data) -> UUID? {
    guard data.count == 16 else { return nil }
    // SAFETY: `data` has as many bytes as the tuple, and a tuple of bytes needs no alignment.
    return data.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
  }
}

extension Conversion.Encoding {
  func text(of data: Data) throws(ConversionFailure) -> String {
    switch self {
    case .base64: return data.base64EncodedString()
    case .hex:
      let digits = Array("0123456789abcdef".utf8)
      return String(
        decoding: data.lazy.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    case .utf8:
      guard let text = String(validating: data, as: UTF8.self) else {
        throw .init(.badUTF8, .data(data), "are not UTF-8")
      }
      return text
    }
  }

  func data(of text: String) throws(ConversionFailure) -> Data {
    switch self {
    case .utf8: return Data(text.utf8)
    case .base64:
      if let data = Data(base64Encoded: text) { return data }
      throw .init(.badBase64, .string(text), "is not base64")
    case .hex:
      if let data = Self.bytes(ofHex: text) { return data }
      throw .init(.badHex, .string(text), "is not hexadecimal, two digits each byte")
    }
  }

  /// Returns the bytes of hexadecimal digits, upper or lower case, two digits for each byte; `nil`
  /// for any other text.
  static func bytes(ofHex text: String) -> Data? {
    let count = text.utf8.count
    guard count % 2 == 0 else { return nil }
    var data = Data(capacity: count / 2)
    var high: UInt8?
    for byte in text.utf8 {
      guard let value = Character(Unicode.Scalar(byte)).hexDigitValue else { return nil }
      let digit = UInt8(value)
      if let first = high {
        data.append(first << 4 | digit)
        high = nil
      } else {
        high = digit
      }
    }
    return data
  }
}
