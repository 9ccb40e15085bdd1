import EntityModel
import EntityStore
import Foundation

/// An item in the form in which a batch insert processes it.
struct BatchRow: Sendable {
  enum Content: Sendable {
    case values([String: Value])
    /// A record of a dump.
    case record(ObjectID, [String: Value])
    case entity([Value], [ObjectID?], any Entity.Type)
    case failure(any Error)
  }

  let content: Content
  let place: String?

  init(_ content: Content, place: String? = nil) {
    self.content = content
    self.place = place
  }

  init(_ item: BatchItem) {
    switch item.values {
    case .success(let values):
      self.init(item.id.map { .record($0, values) } ?? .values(values), place: item.place)
    case .failure(let error): self.init(.failure(error), place: item.place)
    }
  }

  init<T: Entity>(entity: T) {
    self.init(.entity(entity.attributeValues, entity.linkedObjects, T.self))
  }

  /// The bytes from which the digest of the item is computed.
  var identity: [UInt8] {
    var bytes: [UInt8] = []
    if case .record(let id, _) = content { bytes.append(text: id.description) }
    switch content {
    case .values(let values), .record(_, let values):
      for (name, value) in values.sorted(by: { $0.key < $1.key }) {
        bytes.append(text: name)
        bytes.append(value)
      }
    case .entity(let values, let links, _):
      for value in values { bytes.append(value) }
      for link in links { bytes.append(text: link?.description ?? "") }
    case .failure: break
    }
    return bytes
  }
}

extension [UInt8] {
  /// Appends a text with its length before it, so that different lists of values give different
  /// bytes.
  fileprivate mutating func append(text: some StringProtocol) {
    append(number: UInt64(text.utf8.count))
    append(contentsOf: text.utf8)
  }

  fileprivate mutating func append(_ value: Value) {
    append(text: value.kind?.rawValue ?? "")
    switch value {
    case .null: break
    case .int64(let number): append(number: UInt64(bitPattern: number))
    case .double(let number): append(number: number.bitPattern)
    case .date(let date): append(number: date.timeIntervalSinceReferenceDate.bitPattern)
    case .data(let data):
      append(number: UInt64(data.count))
      append(contentsOf: data)
    case .strings(let texts):
      append(number: UInt64(texts.count))
      for text in texts { append(text: text) }
    case .bool, .decimal, .string, .uuid, .url: append(text: value.text)
    }
  }

  private mutating func append(number: UInt64) {
    Swift.withUnsafeBytes(of: number.littleEndian) { append(contentsOf: $0) }
  }
}
