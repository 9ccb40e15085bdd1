public import EntityModel
import Foundation

/// One attribute's part of an index entry.
public struct IndexKeyPart: Hashable, Sendable {
  /// The value that the entry sorts by; for a list, one element. A date, number or text is as it
  /// was written, but −0.0 is read as 0.0. For a text with a collation it is what the key contains:
  /// the text with its case folded, or the bytes of its sort key.
  public let value: Value
  /// True if the value was too long for the key. `value` is then its beginning, cut between two
  /// characters.
  public let isCut: Bool

  public init(_ value: Value, isCut: Bool = false) {
    self.value = value
    self.isCut = isCut
  }
}

/// Reads the bytes that `KeyWriter` writes; the format is described there.
///
/// Every byte is checked: bytes that no writer could have written give `nil`.
struct KeyReader {
  private let index: IndexLayout

  init(_ index: IndexLayout) { self.index = index }

  /// Returns the parts of an entry's key, in the order of the index.
  ///
  /// - Parameter key: The key as stored; the record id at its end is skipped.
  func parts(of key: UnsafeRawBufferPointer) -> [IndexKeyPart]? {
    guard index.isUnique || key.count >= 8 else { return nil }
    var rest = index.sortBytes(of: key)[...]
    var parts: [IndexKeyPart] = []
    for part in index.parts {
      guard let extent = extent(of: part, rest), let read = read(part, rest.prefix(extent.count))
      else { return nil }
      parts.append(IndexKeyPart(read, isCut: extent.isCut))
      rest = rest.dropFirst(extent.count)
    }
    return rest.isEmpty ? parts : nil
  }

  /// Returns the number of bytes up to the mark at the end of the first cut component.
  ///
  /// - Returns: `nil` if nothing was cut.
  func cutEnd(of key: UnsafeRawBufferPointer) -> Int? {
    extent(ofParts: index.parts.count, key).flatMap { $0.isCut ? $0.count : nil }
  }

  /// Returns the number of bytes that the first parts take, or up to the mark of the first part
  /// that was cut.
  ///
  /// - Returns: `nil` for bytes that no writer wrote.
  func end(ofParts count: Int, _ key: UnsafeRawBufferPointer) -> Int? {
    extent(ofParts: count, key)?.count
  }

  private func extent(
    ofParts count: Int, _ key: UnsafeRawBufferPointer
  ) -> (count: Int, isCut: Bool)? {
    var rest = index.sortBytes(of: key)[...]
    var end = 0
    for part in index.parts.prefix(count) {
      guard let extent = extent(of: part, rest) else { return nil }
      end += extent.count
      if extent.isCut { return (end - (index.isUnique ? KeyWriter.hashBytes : 0), true) }
      rest = rest.dropFirst(extent.count)
    }
    return (end, false)
  }

  private typealias Bytes = Slice<UnsafeRawBufferPointer>

  // MARK: Ends of components

  private func extent(
    of part: IndexLayout.Part, _ bytes: Bytes
  ) -> (count: Int, isCut: Bool)? {
    let mask: UInt8 = part.isDescending ? 0xff : 0
    guard let tag = bytes.first else { return nil }
    if tag ^ mask == KeyWriter.null { return (1, false) }
    guard tag ^ mask == KeyWriter.present else { return nil }
    let body = bytes.dropFirst()
    if let size = part.kind.fixedBytes { return body.count >= size ? (1 + size, false) : nil }
    if part.kind == .decimal { return decimalCount(body, mask).map { (1 + $0, false) } }
    return textExtent(body, mask).map { (1 + $0.count, $0.isCut) }
  }

  /// Returns the size of a decimal: a sign, and unless the number is zero two bytes of exponent and
  /// the digits up to a zero byte, all complemented if the number is negative.
  private func decimalCount(_ bytes: Bytes, _ mask: UInt8) -> Int? {
    guard let sign = bytes.first.map({ $0 ^ mask }), sign <= 2 else { return nil }
    if sign == 1 { return 1 }
    let zero = sign == 0 ? ~mask : mask
    return bytes.dropFirst(3).firstIndex(of: zero).map { $0 - bytes.startIndex + 1 }
  }

  private func textExtent(_ bytes: Bytes, _ mask: UInt8) -> (count: Int, isCut: Bool)? {
    var place = bytes.startIndex
    while place + 1 < bytes.endIndex {
      guard bytes[place] ^ mask == 0 else {
        place += 1
        continue
      }
      let mark = bytes[place + 1] ^ mask
      place += 2
      let count = place - bytes.startIndex
      switch mark {
      case 0xff: continue
      case 1: return (count, false)
      case 2:
        let hash = index.isUnique ? KeyWriter.hashBytes : 0
        return bytes.endIndex - place >= hash ? (count + hash, true) : nil
      default: return nil
      }
    }
    return nil
  }

  // MARK: Values of components

  /// Returns the value of a component.
  ///
  /// - Parameter component: The bytes from its tag to its end.
  private func read(_ part: IndexLayout.Part, _ component: Bytes) -> Value? {
    let mask: UInt8 = part.isDescending ? 0xff : 0
    let bytes = component.map { $0 ^ mask }
    guard bytes.first == KeyWriter.present else { return .null }
    let body = bytes.dropFirst()
    switch part.kind {
    case .int64: return .int64(Int64(bitPattern: number(body) ^ 0x8000_0000_0000_0000))
    case .double: return .double(KeyReader.double(number(body)))
    case .date: return .date(Date(timeIntervalSinceReferenceDate: KeyReader.double(number(body))))
    case .bool: return body.first.flatMap { $0 <= 1 ? .bool($0 == 1) : nil }
    case .uuid: return .uuid(UUID(uuid: body.withUnsafeBytes { $0.loadUnaligned(as: uuid_t.self) }))
    case .decimal: return body.withUnsafeBytes { DecimalBytes.decode($0) }.map(Value.decimal)
    case .data: return .data(Data(text(body)))
    case .string where !part.isDecodable && part.collation?.keepsText != true:
      return .data(Data(text(body)))
    case .string, .strings: return string(text(body)).map(Value.string)
    case .url:
      // The beginning of a URL is not always a URL.
      return string(text(body)).map { text in URL(string: text).map(Value.url) ?? .string(text) }
    }
  }

  private func number(_ bytes: ArraySlice<UInt8>) -> UInt64 {
    bytes.reduce(0) { $0 << 8 | UInt64($1) }
  }

  private static func double(_ ordered: UInt64) -> Double {
    Double(bitPattern: ordered >> 63 == 1 ? ordered ^ 0x8000_0000_0000_0000 : ~ordered)
  }

  /// Returns the bytes up to the mark at the end, with `00 FF` read as `00`.
  private func text(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
    var text: [UInt8] = []
    var place = bytes.startIndex
    while place + 1 < bytes.endIndex {
      if bytes[place] != 0 {
        text.append(bytes[place])
        place += 1
      } else if bytes[place + 1] == 0xff {
        text.append(0)
        place += 2
      } else {
        break
      }
    }
    return text
  }

  /// Returns the text of some UTF-8 bytes.
  ///
  /// - Parameter bytes: UTF-8; if a cut has left a part of the last character, that part is
  ///   dropped.
  private func string(_ bytes: [UInt8]) -> String? {
    for count in stride(from: bytes.count, through: max(0, bytes.count - 3), by: -1) {
      if let text = String(validating: bytes.prefix(count), as: UTF8.self) { return text }
    }
    return nil
  }
}
