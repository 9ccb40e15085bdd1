public import EntityModel
public import EntityObjects
import EntityStore
public import Foundation

/// Converts the text of items to values, by the types of the entity's attributes.
public struct BatchItemReader: Sendable {
  private let entity: EntityDescription
  private let attributes: [String: AttributeDescription]

  public init(_ entity: EntityDescription) {
    self.entity = entity
    attributes = Dictionary(
      uniqueKeysWithValues: entity.attributes.filter { !$0.isHidden }.map { ($0.name, $0) })
  }

  /// - Parameter startedAt: The value of `now`.
  public func item(_ item: BatchFileItem, startedAt: Date) -> BatchItem {
    do {
      return BatchItem(try values(item.content, startedAt), place: item.place)
    } catch {
      return BatchItem(failure: error, place: item.place)
    }
  }

  private func values(
    _ content: BatchFileItem.Content, _ now: Date
  ) throws -> [String: Value] {
    switch content {
    case .malformed(let problem): throw BatchFileError(.malformed, problem)
    case .fields(let names, let fields):
      var values: [String: Value] = [:]
      for (name, field) in zip(names, fields) {
        values[name] = try value(of: field, try attribute(name), now)
      }
      return values
    case .json(let text):
      return try Dictionary(
        uniqueKeysWithValues: JSONScalar.members(of: text).map { name, json in
          (name, try value(of: json, try attribute(name), now))
        })
    }
  }

  private func attribute(_ name: String) throws -> AttributeDescription {
    if let attribute = attributes[name] { return attribute }
    if name == "_id" {
      throw BatchFileError(
        .malformed, "the store assigns the number of a new record; leave out _id")
    }
    throw StoreError.unknownAttribute(name, in: entity)
  }

  private func value(
    of field: BatchField, _ attribute: AttributeDescription, _ now: Date
  ) throws -> Value {
    if field.text.isEmpty, !field.isQuoted { return .null }
    return try value(of: field.text, attribute, now)
  }

  private func value(
    of json: JSONScalar, _ attribute: AttributeDescription, _ now: Date
  ) throws -> Value {
    let value: Value? =
      switch (attribute.type.kind, json) {
      case (_, .null): .null
      case (_, .string(let text)): try self.value(of: text, attribute, now)
      case (.int64, .int64(let number)): .int64(number)
      case (.double, .int64(let number)): .double(Double(number))
      case (.decimal, .int64(let number)): .decimal(Decimal(number))
      case (.double, .number(let number, _)): .double(number)
      case (.decimal, .number(_, let number?)): .decimal(number)
      case (.bool, .bool(let flag)): .bool(flag)
      case (.strings, .strings(let texts)): .strings(texts)
      default: nil
      }
    guard let value else { throw BatchFileError(misfit: json.text, attribute) }
    return value
  }

  /// Reads a text in the same way as `mooring set`, except that no word means null: files have a
  /// null of their own.
  private func value(
    of text: String, _ attribute: AttributeDescription, _ now: Date
  ) throws -> Value {
    if case .reference(let destination) = attribute.type {
      let number = text.hasPrefix(destination + "/") ? text.dropFirst(destination.count + 1) : ""
      guard let number = Int64(number) else {
        throw BatchFileError(
          .malformed, "\(attribute.name): \"\(text)\" is no record; write \(destination)/7")
      }
      return .int64(number)
    }
    if text == "null" {
      guard attribute.type.kind == .string else {
        throw BatchFileError(misfit: text, attribute)
      }
      return .string(text)
    }
    guard let value = attribute.value(of: text, now: now) else {
      throw BatchFileError(misfit: text, attribute)
    }
    return value
  }
}

extension BatchFileError {
  init(misfit text: String, _ attribute: AttributeDescription) {
    let text = text.count > 100 ? text.prefix(100) + "…" : text
    self.init(.malformed, "\"\(text)\" is no \(attribute.type.name) for \(attribute.name)")
  }
}

/// A JSON value of an attribute.
enum JSONScalar: Decodable {
  case null
  case string(String)
  case int64(Int64)
  /// A number, also as a decimal with all of its digits if it fits.
  case number(Double, Decimal?)
  case bool(Bool)
  case strings([String])
  /// An object, or a list with elements other than texts.
  case other

  /// Reads an object of values.
  ///
  /// - Throws: `BatchFileError`.
  static func members(of text: [UInt8]) throws -> [String: JSONScalar] {
    do {
      return try JSONDecoder().decode([String: JSONScalar].self, from: Data(text))
    } catch DecodingError.typeMismatch(_, let context) where context.codingPath.isEmpty {
      throw BatchFileError(.malformed, "an item is a JSON object: {\"title\": \"…\"}")
    } catch let error as DecodingError {
      throw BatchFileError(.malformed, error.inOneLine)
    }
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    // A failed attempt means a value of another kind, and is not an error.
    if container.decodeNil() {
      self = .null
    } else if let text = try? container.decode(String.self) {
      self = .string(text)
    } else if let number = try? container.decode(Int64.self) {
      self = .int64(number)
    } else if let number = try? container.decode(Double.self) {
      self = .number(number, try? container.decode(Decimal.self))
    } else if let flag = try? container.decode(Bool.self) {
      self = .bool(flag)
    } else if let texts = try? container.decode([String].self) {
      self = .strings(texts)
    } else {
      self = .other
    }
  }

  /// The value for messages.
  var text: String {
    switch self {
    case .null: "null"
    case .string(let text): text
    case .int64(let number): "\(number)"
    case .number(let number, _): "\(number)"
    case .bool(let flag): "\(flag)"
    case .strings(let texts): "[\(texts.joined(separator: ", "))]"
    case .other: "an object or a mixed list"
    }
  }
}

extension DecodingError {
  /// The message of Foundation's parser.
  fileprivate var inOneLine: String {
    guard case .dataCorrupted(let context) = self else { return "the item is no JSON object" }
    let cause = context.underlyingError as NSError?
    let detail = cause?.userInfo[NSDebugDescriptionErrorKey] as? String
    let problem = (detail ?? context.debugDescription).trimmingCharacters(in: ["."])
    return "the item is no JSON: \(problem); write each object on one line, or all in one array"
  }
}
