import EntityModel
import EntityStore
import Foundation
import TextFormats

/// One value of a property list, with its path from the root, because a list has no line numbers.
struct PropertyListNode: SeedNode {
  typealias Content = PropertyListValue

  let content: Content
  let file: String
  /// The path for messages, such as `Dog, item 2, name`; empty at the root.
  var path = ""

  var place: SeedPlace { .path(path.isEmpty ? file : "\(file): \(path)") }
  /// Always false: a property list has no null.
  var isNull: Bool { false }

  func mapping() throws -> PropertyListMapping {
    guard case .dictionary(let entries) = content else { throw expected("a dictionary") }
    return PropertyListMapping(entries, of: self)
  }

  /// Returns the elements of an array, counted from 1 in messages.
  func sequence() throws -> [PropertyListNode] {
    guard case .array(let elements) = content else { throw expected("an array") }
    return elements.enumerated().map {
      PropertyListNode(content: $1, file: file, path: "\(path), item \($0 + 1)")
    }
  }

  func string() throws -> String {
    guard case .string(let text) = content else { throw expected("a string") }
    return text
  }

  func value(_ kind: ValueKind, now: Date) throws -> Value {
    switch (kind, content) {
    case (.int64, .int64(let number)): return .int64(number)
    case (.double, .int64(let number)): return .double(Double(number))
    case (.double, .double(let number)) where number.isFinite: return .double(number)
    case (.decimal, .int64(let number)): return .decimal(Decimal(number))
    case (.decimal, .double(let number)) where number.isFinite: return .decimal(try decimal(number))
    case (.bool, .bool(let flag)): return .bool(flag)
    case (.date, .date(let date)): return .date(date)
    case (.data, .data(let data)): return .data(data)
    case (.strings, _): return .strings(try sequence().map { try $0.string() })
    case (.int64, _): throw expected("an integer")
    case (.double, _): throw expected("a finite number")
    case (.bool, _): throw expected("true or false")
    default: return try value(try string(), kind, now)
    }
  }

  /// Returns the decimal of the number's shortest text: 9.99 in a file is the decimal 9.99.
  private func decimal(_ number: Double) throws -> Decimal {
    if let decimal = Decimal(string: String(describing: number)) { return decimal }
    throw StoreError.seed(at: place, "this is not of type decimal")
  }

  private func value(_ text: String, _ kind: ValueKind, _ now: Date) throws -> Value {
    if let value = Value(text: text, as: kind, now: now) { return value }
    throw StoreError.seed(at: place, "this is not of type \(kind.rawValue)")
  }

  private func expected(_ expectation: String) -> StoreError {
    .seed(at: place, "expected \(expectation), found \(content.name)")
  }
}

extension PropertyListNode.Content {
  fileprivate var name: String {
    switch self {
    case .bool: "a boolean"
    case .int64: "an integer"
    case .double: "a real"
    case .string: "a string"
    case .date: "a date"
    case .data: "data"
    case .array: "an array"
    case .dictionary: "a dictionary"
    case .reference: "a reference of an archive"
    }
  }
}

/// The keys of a dictionary, without those that were read already.
struct PropertyListMapping: SeedMapping {
  private let entries: [String: PropertyListNode.Content]
  private let owner: PropertyListNode
  private var known: [String] = []

  init(_ entries: [String: PropertyListNode.Content], of owner: PropertyListNode) {
    self.entries = entries
    self.owner = owner
  }

  mutating func optional(_ key: String) -> PropertyListNode? {
    known.append(key)
    return entries[key].map {
      let path = owner.path.isEmpty ? key : "\(owner.path), \(key)"
      return PropertyListNode(content: $0, file: owner.file, path: path)
    }
  }

  func finish() throws {
    guard let key = entries.keys.filter({ !known.contains($0) }).min() else { return }
    let advice = NearestName.advice(
      on: key, among: known.filter { entries[$0] == nil },
      otherwise: "known keys: " + known.joined(separator: ", "))
    throw StoreError.seed(at: owner.place, "the key \"\(key)\" is unknown; \(advice)")
  }
}
