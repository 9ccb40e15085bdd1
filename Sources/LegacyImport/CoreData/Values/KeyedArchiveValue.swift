package import EntityModel
import Foundation
import TextFormats

/// The reason why an archive is not converted to a value.
package enum KeyedArchiveFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// The archive is damaged, too deep or too long, with the reason.
  case damaged(String)
  /// An object has a class that the mapping does not list.
  case classNotAllowed(String)
  /// An object has a class that the mapping lists and that cannot be converted.
  case unknownClass(String)

  /// The reason on one line.
  package var description: String {
    switch self {
    case .damaged(let text): text
    case .classNotAllowed(let name): "it holds a \(name), which the mapping does not name"
    case .unknownClass(let name): "it contains a \(name), which is unknown; keep the bytes"
    }
  }
}

/// Converts the values of transformable attributes: archives of NSKeyedArchiver.
package enum KeyedArchiveValue {
  /// Returns the value of an archive, all of whose objects have allowed classes.
  ///
  /// A string, number, date, URL, UUID or data becomes that value, an array or a set of strings
  /// becomes a list, and every other array, set or dictionary becomes JSON text with sorted keys,
  /// in which dates are RFC 3339, data is base64, and the elements of sets are sorted. `NSMutable…`
  /// counts as `NS…`.
  ///
  /// - Complexity: O(size), and bounded: up to 64 levels, 100,000 objects and
  ///   `Limits.cellBytesMax`.
  package static func value(
    of bytes: [UInt8], allowing classes: Set<String>
  ) throws(KeyedArchiveFailure) -> Value {
    var reader = try ArchivedValueReader(bytes, allowing: classes)
    let value = try reader.value()
    switch value {
    case .plain(let value): return value
    case .url(let text):
      guard let url = URL(string: text) else { throw .damaged("its URL is invalid") }
      return .url(url)
    case .list(let elements):
      if let strings = strings(elements) { return .strings(strings) }
    case .set(let elements):
      if let strings = strings(elements) { return .strings(strings.sorted()) }
    case .map: break
    }
    let text = try ArchivedJSON.text(of: value)
    guard text.utf8.count <= Limits.cellBytesMax else {
      throw .damaged("its text is longer than \(Limits.cellBytesMax) bytes")
    }
    return .string(text)
  }

  /// Returns the classes of the objects that the root leads to, without `Mutable` in their names,
  /// if `value` supports all of them.
  package static func classNames(in bytes: [UInt8]) throws(KeyedArchiveFailure) -> Set<String> {
    var reader = try ArchivedValueReader(bytes, allowing: nil)
    _ = try reader.value()
    return reader.classNames
  }

  private static func strings(_ elements: [ArchivedValue]) -> [String]? {
    var strings: [String] = []
    for element in elements {
      guard case .plain(.string(let text)) = element else { return nil }
      strings.append(text)
    }
    return strings
  }
}

/// Writes archived values as JSON: equal values have equal texts.
private enum ArchivedJSON {
  static func text(of value: ArchivedValue) throws(KeyedArchiveFailure) -> String {
    switch value {
    case .plain(.double(let number)) where !number.isFinite:
      throw .damaged("JSON has no infinite number and no NaN")
    case .plain(let value): return value.json(.stored)
    case .url(let text): return JSONLiteral.quoted(text, .stored)
    case .list(let elements): return "[" + (try texts(elements)).joined(separator: ",") + "]"
    case .set(let elements):
      return "[" + (try texts(elements)).sorted().joined(separator: ",") + "]"
    case .map(let entries):
      var texts: [String] = []
      for (key, value) in entries.sorted(by: { $0.key < $1.key }) {
        texts.append(JSONLiteral.quoted(key, .stored) + ":" + (try text(of: value)))
      }
      return "{" + texts.joined(separator: ",") + "}"
    }
  }

  private static func texts(
    _ elements: [ArchivedValue]
  ) throws(KeyedArchiveFailure) -> [String] {
    var texts: [String] = []
    for element in elements { texts.append(try text(of: element)) }
    return texts
  }
}
