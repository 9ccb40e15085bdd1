import EntityModel
import EntityStore
import Foundation

/// The sort keys of a record as bytes whose order is that of the records, whatever their length.
///
/// The components are those of an index key (see `KeyWriter`), but none is truncated, because
/// records are not compared further when their bytes are equal.
struct SortBytes {
  private(set) var bytes: [UInt8] = []

  init(_ row: FetchRow, by sort: [BoundSort], in transaction: ReadTransaction) throws {
    for part in sort {
      let value = try part.program.evaluate(row, in: transaction)
      let start = bytes.count
      if let collation = part.key, !value.isNull {
        bytes.append(KeyWriter.present)
        value.withBytes { append(text: collation.key(of: $0)) }
      } else {
        append(value)
      }
      if part.isDescending {
        for place in start..<bytes.count { bytes[place] = ~bytes[place] }
      }
    }
  }

  private mutating func append(_ value: Value) {
    if value.isNull { return bytes.append(KeyWriter.null) }
    bytes.append(KeyWriter.present)
    switch value {
    case .null: break
    case .int64(let number): append(KeyWriter.ordered(number))
    case .double(let number): append(KeyWriter.ordered(number))
    case .date(let date): append(KeyWriter.ordered(date.timeIntervalSinceReferenceDate))
    case .bool(let flag): bytes.append(flag ? 1 : 0)
    case .uuid(let uuid): withUnsafeBytes(of: uuid.uuid) { bytes.append(contentsOf: $0) }
    case .decimal(let decimal): DecimalBytes.append(decimal, to: &bytes)
    case .string(let text): append(text: text.utf8)
    case .url(let url): append(text: url.absoluteString.utf8)
    case .data(let data): append(text: data)
    case .strings(let list):
      for element in list {
        bytes.append(KeyWriter.present)
        append(text: element.utf8)
      }
      bytes.append(0)
    }
  }

  private mutating func append(_ bits: UInt64) {
    withUnsafeBytes(of: bits.bigEndian) { bytes.append(contentsOf: $0) }
  }

  private mutating func append(text: some Sequence<UInt8>) {
    for byte in text {
      bytes.append(byte)
      if byte == 0 { bytes.append(0xFF) }
    }
    bytes.append(0)
    bytes.append(1)
  }
}
