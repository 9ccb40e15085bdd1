/// The first 100 bytes of a SQLite file, without unused ones.
///
/// | bytes  | what                                                                             |
/// |--------|----------------------------------------------------------------------------------|
/// | 0–15   | "SQLite format 3", zero                                                          |
/// | 16–17  | page size; 1 is 65536                                                            |
/// | 18, 19 | versions to write and to read: 1 rollback journal, 2 write-ahead log             |
/// | 24–27  | change counter                                                                   |
/// | 28–31  | pages; true only if 92–95 has the change counter                                 |
/// | 40–43  | schema cookie                                                                    |
/// | 56–59  | text: 1 UTF-8, 2 UTF-16 little-endian, 3 UTF-16 big-endian                        |
/// | 92–95  | change counter when 28–31 was written                                            |
package struct DatabaseHeader: Hashable, Sendable {
  package enum TextEncoding: String, Hashable, Sendable {
    case utf8, utf16LittleEndian, utf16BigEndian
  }

  package let pageSize: Int
  package let readVersion: UInt8
  package let changeCounter: UInt32
  /// The number of pages; `nil` if the file does not say it.
  package let pageCount: UInt32?
  package let schemaCookie: UInt32
  package let textEncoding: TextEncoding?

  static let byteCount = 100
  static let magic = Array("SQLite format 3\0".utf8)

  package var usesWriteAheadLog: Bool { readVersion == 2 }

  /// - Returns: Nil for fewer than 100 bytes and for a page size that no SQLite file has. Whether
  ///   the magic is there is not asked.
  init?(_ bytes: [UInt8]) {
    guard bytes.count >= Self.byteCount else { return nil }
    let stored = Int(bytes[16]) << 8 | Int(bytes[17])
    pageSize = stored == 1 ? 65_536 : stored
    guard pageSize >= 512, pageSize <= 65_536, pageSize & (pageSize - 1) == 0 else { return nil }
    readVersion = bytes[19]
    changeCounter = bytes.bigEndian32(at: 24)
    let pages = bytes.bigEndian32(at: 28)
    pageCount = pages > 0 && bytes.bigEndian32(at: 92) == changeCounter ? pages : nil
    schemaCookie = bytes.bigEndian32(at: 40)
    textEncoding =
      switch bytes.bigEndian32(at: 56) {
      case 0, 1: .utf8
      case 2: .utf16LittleEndian
      case 3: .utf16BigEndian
      default: nil
      }
  }
}

extension [UInt8] {
  /// Returns a number of four bytes, which must be there.
  func bigEndian32(at place: Int) -> UInt32 {
    UInt32(self[place]) << 24 | UInt32(self[place + 1]) << 16 | UInt32(self[place + 2]) << 8
      | UInt32(self[place + 3])
  }
}
