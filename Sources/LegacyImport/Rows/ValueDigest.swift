import CMooringXXHash
import EntityModel
import EntityStore
import Foundation

/// Canonical bytes of values, equal for equal values: the input of the ledger's hashes and of the
/// report's digests. They do not depend on the layout of a record.
struct ValueDigest {
  private var bytes: [UInt8] = []

  mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }

  mutating func append(_ value: Value) {
    switch value {
    case .null: tag(0)
    case .int64(let number): append(1, UInt64(bitPattern: number))
    case .double(let number): append(2, Self.bits(number))
    case .decimal(let number): append(3, number.description)
    case .bool(let flag): append(4, flag ? 1 : 0)
    case .string(let text): append(5, text)
    case .date(let date): append(6, Self.bits(date.timeIntervalSinceReferenceDate))
    case .uuid(let uuid): withUnsafeBytes(of: uuid.uuid) { append(7, $0) }
    case .data(let data): data.withUnsafeBytes { append(8, $0) }
    case .url(let url): append(9, url.absoluteString)
    case .strings(let list):
      append(10, UInt64(list.count))
      for text in list { append(5, text) }
    }
  }

  /// Appends a value of a stored record, without copying texts and data out of it first.
  mutating func append(_ record: StoredRow, _ position: Int) throws {
    guard let (kind, found) = try record.bytes(position) else { return tag(0) }
    switch kind {
    case .string: append(5, found)
    case .data: append(8, found)
    case .url: append(9, found)
    default: append(try record.value(position))
    }
  }

  mutating func append(_ cell: Cell) {
    switch cell {
    case .null: tag(0)
    case .integer(let number): append(1, UInt64(bitPattern: number))
    case .real(let number): append(2, Self.bits(number))
    case .text(let text): append(5, text)
    case .badText(let found): found.withUnsafeBytes { append(11, $0) }
    case .blob(let found): found.withUnsafeBytes { append(8, $0) }
    case .oversized(let count): append(12, UInt64(bitPattern: count))
    }
  }

  mutating func append(_ number: Int64) { append(1, UInt64(bitPattern: number)) }

  /// A hash of 16 bytes, which distinguishes the values of a set.
  var key: [UInt8] {
    let hash = bytes.withUnsafeBytes { mooring_xxh3_128($0.baseAddress, $0.count) }
    return withUnsafeBytes(of: (hash.high, hash.low)) { Array($0) }
  }

  var hash: Int64 { bytes.withUnsafeBytes { ContentHash.of($0) } }

  private mutating func tag(_ tag: UInt8) { bytes.append(tag) }

  private mutating func append(_ tag: UInt8, _ number: UInt64) {
    bytes.append(tag)
    withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
  }

  private mutating func append(_ tag: UInt8, _ text: String) {
    var text = text
    text.withUTF8 { append(tag, UnsafeRawBufferPointer($0)) }
  }

  private mutating func append(_ tag: UInt8, _ found: UnsafeRawBufferPointer) {
    append(tag, UInt64(found.count))
    bytes.append(contentsOf: found)
  }

  /// Returns the bits of a number; a zero has the same bits whatever its sign.
  private static func bits(_ number: Double) -> UInt64 { number == 0 ? 0 : number.bitPattern }
}

/// A sum of hashes, which is the same for the same records in any order.
struct UnorderedDigest: Hashable, Sendable {
  private(set) var sum: UInt64 = 0

  mutating func add(_ hash: Int64) { sum &+= UInt64(bitPattern: hash) }

  var text: String { sum.hexadecimal }
}
