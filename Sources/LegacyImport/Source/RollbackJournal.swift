import Glibc

/// The contents of a `-journal`, before SQLite rolls it back.
///
/// | bytes | of the header              | at the end, with a super-journal               |
/// |-------|----------------------------|------------------------------------------------|
/// | 0–7   | magic d9d505f920a163d7     | name, its length (4), its byte sum (4), magic  |
/// | 8–11  | records                    |                                                |
/// | 12–15 | nonce                      |                                                |
/// | 16–19 | pages of the file before   |                                                |
/// | 20–27 | sector size, page size     |                                                |
struct RollbackJournal {
  enum State: Equatable {
    /// The journal is empty, or its header is zero: its transaction is over.
    case over
    case hot
    /// The header is wrong: SQLite deletes the journal and rolls nothing back.
    case badHeader
  }

  let state: State
  /// The name of the super-journal, which binds several databases into one transaction, and the
  /// place in the journal where it is mentioned.
  let superJournal: (name: [UInt8], offset: Int64)?

  init(_ file: borrowing SourceFile) throws(ImportError) {
    let start = try file.bytes(at: 0, count: 28)
    state =
      start.first ?? 0 == 0 ? .over : start.starts(with: Self.magic) ? .hot : .badHeader
    superJournal = try Self.superJournal(file)
  }

  private static func superJournal(
    _ file: borrowing SourceFile
  ) throws(ImportError) -> (name: [UInt8], offset: Int64)? {
    let byteCount = try file.byteCount()
    guard byteCount >= 20 else { return nil }
    let end = try file.bytes(at: byteCount - 16, count: 16)
    guard end.count == 16, end[8...].elementsEqual(magic) else { return nil }
    let length = Int64(end.bigEndian32(at: 0))
    guard length > 0, length <= min(byteCount - 16, Int64(PATH_MAX)) else { return nil }
    let offset = byteCount - 16 - length
    let name = try file.bytes(at: offset, count: Int(length))
    // Four bytes before the name hold the page that can be no other's.
    return (name, max(0, offset - 4))
  }

  private static let magic: [UInt8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7]
}

extension RollbackJournal {
  /// Removes the name of the super-journal from the copy of a journal, after doing what SQLite
  /// would do: it takes the transaction for committed if that file is gone, and rolls back if it is
  /// there. SQLite would also open and delete the file of that name, which could be any that a
  /// hostile journal names.
  ///
  /// - Returns: True if the transaction was rolled back.
  func disarm(copy: String) throws(ImportError) -> Bool {
    guard let superJournal else { return true }
    let path = String(decoding: superJournal.name.prefix { $0 != 0 }, as: UTF8.self)
    var status = stat()
    let isThere = lstat(path, &status) == 0
    guard (isThere ? truncate(copy, Int(superJournal.offset)) : unlink(copy)) == 0 else {
      throw ImportError(
        .unreadable, "the copy of the journal cannot be changed",
        [("path", copy), ("system", String(cString: strerror(errno)))])
    }
    return isThere
  }
}
