import CMooringXXHash
import EntityStore
import Foundation

/// The identity of a row of a source in all versions of the file, and the sort key of the ledger.
///
/// ```
/// number of the _Import   4 bytes, most significant first
/// table                   4 bytes: of the XXH3 of its name
/// key                     a whole number: 0x01, 8 bytes with the sign flipped
///                         else: 0x02, XXH3 of the key's text (JSON), 16 bytes
/// ```
///
/// Rows are read in the order of their keys. Therefore rows with whole numbers as keys, which
/// nearly all tables have, come in the order of the index.
struct RowIdentity: Hashable, Sendable {
  let data: Data

  var bytes: [UInt8] { Array(data) }

  /// - Returns: `nil` if a part of the key is null: such a key identifies nothing.
  init?(source: Int64, table: String, key: some Collection<Cell>) {
    if key.isEmpty || key.contains(.null) { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(25)
    func append(_ number: some FixedWidthInteger) {
      withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
    }
    append(UInt32(truncatingIfNeeded: source))
    append(UInt32(truncatingIfNeeded: ContentHash.of(table)))
    if key.count == 1, case .integer(let number)? = key.first {
      bytes.append(1)
      append(UInt64(bitPattern: number) ^ (1 << 63))
    } else {
      bytes.append(2)
      var text = Self.text(of: key)
      let hash = text.withUTF8 { mooring_xxh3_128($0.baseAddress, $0.count) }
      append(hash.high)
      append(hash.low)
    }
    data = Data(bytes)
  }

  /// Returns the key for people and for queries in SQLite: `12`, or `["a",3]`. Long values are cut.
  static func excerpt(of key: some Collection<Cell>) -> String {
    if key.count == 1, let only = key.first { return only.excerpt }
    return "[" + key.map(\.excerpt).joined(separator: ",") + "]"
  }

  private static func text(of key: some Collection<Cell>) -> String {
    if key.count == 1, let only = key.first { return only.json }
    return "[" + key.map(\.json).joined(separator: ",") + "]"
  }
}
