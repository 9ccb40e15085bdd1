/// A page of a tree of rows or of an index, as SQLite stores it.
///
/// | bytes | what                                                                |
/// |-------|---------------------------------------------------------------------|
/// | 0     | 2 interior of an index, 5 interior of rows, 10 leaf of an index, 13 leaf of rows |
/// | 1–2   | the first free block: two bytes with the next one, two with its size |
/// | 3–4   | number of cells                                                     |
/// | 5–6   | where the cells begin; 0 for 65,536                                 |
/// | 7     | number of free bytes outside of free blocks                         |
/// | 8–11  | the last child, only of an interior page                            |
///
/// The places of the cells follow, two bytes each. Page 1 begins after the header of the file.
struct TreePage {
  enum Kind: UInt8 {
    case indexInterior = 2
    case rowInterior = 5
    case indexLeaf = 10
    case rowLeaf = 13

    var isLeaf: Bool { self == .indexLeaf || self == .rowLeaf }
    var isOfRows: Bool { self == .rowInterior || self == .rowLeaf }
  }

  let number: Int
  let kind: Kind
  /// The places of the cells; `nil` for one that is not in the page.
  let places: [Int?]
  /// The child after the last cell.
  let lastChild: Int
  private let bytes: [UInt8]
  private let usable: Int
  private let start: Int

  /// - Returns: `nil` if the bytes are not those of such a page.
  init?(_ bytes: [UInt8], number: Int, usable: Int) {
    let start = number == 1 ? DatabaseHeader.byteCount : 0
    guard bytes.count >= start + 12, let kind = Kind(rawValue: bytes[start]) else { return nil }
    let cells = Int(bytes[start + 3]) << 8 | Int(bytes[start + 4])
    let first = start + (kind.isLeaf ? 8 : 12)
    // An empty leaf is a tree without rows, and an interior page has at least one cell.
    guard first + 2 * cells <= min(usable, bytes.count), cells > 0 || kind.isLeaf else {
      return nil
    }
    self.number = number
    self.kind = kind
    self.bytes = bytes
    self.usable = usable
    self.start = start
    lastChild = kind.isLeaf ? 0 : Int(bytes.bigEndian32(at: start + 8))
    places = (0..<cells).map { cell in
      let place = Int(bytes[first + 2 * cell]) << 8 | Int(bytes[first + 2 * cell + 1])
      return place >= first + 2 * cells && place < min(usable, bytes.count) ? place : nil
    }
    if cells > 0, places.allSatisfy({ $0 == nil }), !kind.isLeaf { return nil }
  }

  /// The child before a cell of an interior page.
  func child(before cell: Int) -> Int? {
    guard let place = places[cell], place + 4 <= bytes.count else { return nil }
    return Int(bytes.bigEndian32(at: place))
  }

  /// The greatest row id below the child before a cell, of an interior page of rows.
  func separator(after cell: Int) -> Int64? {
    guard let place = places[cell] else { return nil }
    var reader = ByteReader(bytes, at: place + 4)
    return reader.number()
  }

  /// True if bytes of the page are neither free nor of a cell: the page had more cells than it
  /// states.
  var hasHiddenCells: Bool {
    var known = Int(bytes[start + 7])
    var free = number(at: start + 1)
    var last = 0
    while free > last, free + 4 <= min(usable, bytes.count) {
      last = free
      known += number(at: free + 2)
      free = number(at: free)
    }
    for cell in places.indices {
      guard let count = byteCount(of: cell) else { return false }
      known += max(Self.cellBytesMin, count)
    }
    let first = number(at: start + 5)
    return known + Self.cellBytesMin <= usable - (first == 0 ? 65_536 : first)
  }

  private static let cellBytesMin = 4

  private func number(at place: Int) -> Int { Int(bytes[place]) << 8 | Int(bytes[place + 1]) }

  private func byteCount(of cell: Int) -> Int? {
    guard kind == .rowInterior else { return content(of: cell)?.cellByteCount }
    guard let place = places[cell] else { return nil }
    var reader = ByteReader(bytes, at: place + 4)
    return reader.number() == nil ? nil : reader.place - place
  }

  struct Content {
    /// The row id; `nil` in an index.
    let rowID: Int64?
    /// The number of bytes of the cell in the page.
    let cellByteCount: Int
    /// The number of bytes of the record.
    let byteCount: Int
    /// The bytes of the record that the page has.
    let local: ArraySlice<UInt8>
    /// The page with the next bytes; 0 if the page has all.
    let overflow: Int
  }

  /// Returns the record of a cell, or `nil` if its bytes are not all there. Interior pages of rows
  /// have none.
  func content(of cell: Int) -> Content? {
    guard kind != .rowInterior, let place = places[cell] else { return nil }
    var reader = ByteReader(bytes, at: place + (kind == .indexInterior ? 4 : 0))
    guard let byteCount = reader.number(), byteCount > 0, byteCount <= Int64(Int32.max) else {
      return nil
    }
    var rowID: Int64?
    if kind == .rowLeaf {
      rowID = reader.number()
      if rowID == nil { return nil }
    }
    let count = Int(byteCount)
    let most = kind.isOfRows ? usable - 35 : (usable - 12) * 64 / 255 - 23
    let least = (usable - 12) * 32 / 255 - 23
    let rest = least + (count - least) % (usable - 4)
    let local = count <= most ? count : rest <= most ? rest : least
    let end = reader.place + local
    let cellByteCount = end + (local < count ? 4 : 0) - place
    guard place + cellByteCount <= min(usable, bytes.count) else {
      return Content(
        rowID: rowID, cellByteCount: cellByteCount, byteCount: count, local: [], overflow: 0)
    }
    return Content(
      rowID: rowID, cellByteCount: cellByteCount, byteCount: count,
      local: bytes[reader.place..<end],
      overflow: local < count ? Int(bytes.bigEndian32(at: end)) : 0)
  }
}

/// Reads numbers as SQLite stores them.
struct ByteReader {
  private let bytes: [UInt8]
  private(set) var place: Int

  init(_ bytes: [UInt8], at place: Int) {
    self.bytes = bytes
    self.place = place
  }

  /// Reads a number of one to nine bytes: seven bits of each, and all of the ninth.
  mutating func number() -> Int64? {
    var number: UInt64 = 0
    for count in 1...9 {
      guard place >= 0, place < bytes.count else { return nil }
      let byte = bytes[place]
      place += 1
      if count == 9 { return Int64(bitPattern: number << 8 | UInt64(byte)) }
      number = number << 7 | UInt64(byte & 0x7f)
      if byte < 0x80 { return Int64(bitPattern: number) }
    }
    return nil
  }
}
