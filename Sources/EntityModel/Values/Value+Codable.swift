import Foundation

/// Writes a value as a JSON object with one member that names its kind, so that a reader need not
/// guess: `{"int64": 5}`, `{"date": 785000000.5}`, `{"data": "…base64…"}`; null is `null`.
extension Value: Codable {
  private enum Key: String, CodingKey {
    case int64, double, decimal, bool, string, date, uuid, data, url, strings
  }

  public func encode(to encoder: any Encoder) throws {
    if case .null = self {
      var container = encoder.singleValueContainer()
      try container.encodeNil()
      return
    }
    var container = encoder.container(keyedBy: Key.self)
    switch self {
    case .null: break
    case .int64(let value): try container.encode(value, forKey: .int64)
    case .double(let value): try container.encode(value, forKey: .double)
    case .decimal(let value): try container.encode(value.description, forKey: .decimal)
    case .bool(let value): try container.encode(value, forKey: .bool)
    case .string(let value): try container.encode(value, forKey: .string)
    case .date(let value):
      try container.encode(value.timeIntervalSinceReferenceDate, forKey: .date)
    case .uuid(let value): try container.encode(value, forKey: .uuid)
    case .data(let value): try container.encode(value.base64EncodedString(), forKey: .data)
    case .url(let value): try container.encode(value.absoluteString, forKey: .url)
    case .strings(let value): try container.encode(value, forKey: .strings)
    }
  }

  public init(from decoder: any Decoder) throws {
    if try decoder.singleValueContainer().decodeNil() {
      self = .null
      return
    }
    let container = try decoder.container(keyedBy: Key.self)
    guard container.allKeys.count == 1, let key = container.allKeys.first else {
      throw Value.malformed("a value has one member that names its kind", decoder)
    }
    switch key {
    case .int64: self = .int64(try container.decode(Int64.self, forKey: key))
    case .double: self = .double(try container.decode(Double.self, forKey: key))
    case .bool: self = .bool(try container.decode(Bool.self, forKey: key))
    case .string: self = .string(try container.decode(String.self, forKey: key))
    case .uuid: self = .uuid(try container.decode(UUID.self, forKey: key))
    case .strings: self = .strings(try container.decode([String].self, forKey: key))
    case .date:
      let seconds = try container.decode(Double.self, forKey: key)
      self = .date(Date(timeIntervalSinceReferenceDate: seconds))
    case .decimal, .data, .url:
      // `init(text:…)` cannot be used: it reads "null" as null, and that is also a valid base64
      // text.
      let text = try container.decode(String.self, forKey: key)
      let value: Value? =
        switch key {
        case .decimal: Value.decimal(of: text)
        case .data: Data(base64Encoded: text).map(Value.data)
        default: URL(string: text).map(Value.url)
        }
      guard let value else { throw Value.malformed("unreadable \(key.rawValue)", decoder) }
      self = value
    }
  }

  private static func malformed(_ text: String, _ decoder: any Decoder) -> DecodingError {
    .dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: text))
  }
}
