import Glibc

/// The pages of the copy of a SQLite file, read without SQLite. Used by one thread.
///
/// Pages are numbered from 1. The last page of a cut file may have fewer bytes than the others.
final class DatabasePages {
  let header: DatabaseHeader
  /// The bytes of a page without those that are reserved at its end.
  let usable: Int
  /// The number of pages in the file.
  let count: Int
  /// The number of pages that the file had, as far as its header states it. Pages after them were
  /// cut off from the database, and may have deleted rows.
  let stated: Int
  let freelist: (first: Int, count: Int)
  /// True if pages that map each page to its parent are in the file.
  let hasParents: Bool
  private let file: SourceFile

  init(_ path: String, stated: UInt32?) throws {
    guard let file = try SourceFile.open(path) else {
      throw ImportError(.missing, "the copy of the file no longer exists", [("path", path)])
    }
    let start = try file.bytes(at: 0, count: DatabaseHeader.byteCount)
    guard let header = DatabaseHeader(start), header.pageSize - Int(start[20]) >= 480 else {
      throw ImportError(.damaged, "the header of the file has no page size")
    }
    self.header = header
    usable = header.pageSize - Int(start[20])
    let size = Int64(header.pageSize)
    count = Int((try file.byteCount() + size - 1) / size)
    let known = max(Int(stated ?? 0), Int(header.pageCount ?? 0))
    self.stated = known > 0 ? known : count
    freelist = (Int(start.bigEndian32(at: 32)), Int(start.bigEndian32(at: 36)))
    hasParents = start.bigEndian32(at: 52) > 0
    self.file = file
  }

  /// Returns the number of pages of the file that are of the database.
  ///
  /// - Parameter used: The pages of trees. If one is after the stated pages, the header is wrong.
  func inUse(_ used: Set<Int>) -> Int {
    stated >= count || used.contains { $0 > stated } ? count : stated
  }

  /// Returns the bytes of a page that are there; `nil` for a page that is not in the file.
  func bytes(of page: Int) throws -> [UInt8]? {
    guard page >= 1, page <= count else { return nil }
    let start = Int64(page - 1) * Int64(header.pageSize)
    return try file.bytes(at: start, count: header.pageSize)
  }

  /// Returns the page as a page of a tree; `nil` if it is none.
  func treePage(_ page: Int) throws -> TreePage? {
    try bytes(of: page).flatMap { TreePage($0, number: page, usable: usable) }
  }

  /// True for a page that never has rows: the one with the locks of processes, and those that map
  /// pages to their parents.
  func isReserved(_ page: Int) -> Bool {
    page == lockPage || (hasParents && page == parentMap(of: page))
  }

  private var lockPage: Int { (1 << 30) / header.pageSize + 1 }

  private func parentMap(of page: Int) -> Int {
    guard page >= 2 else { return 0 }
    let pagesOfMap = usable / 5 + 1
    let map = (page - 2) / pagesOfMap * pagesOfMap + 2
    return map == lockPage ? map + 1 : map
  }

  /// The use of a page, as the file maps it.
  enum Use: Equatable {
    case root, free, overflow
    case child(of: Int)
  }

  /// - Returns: `nil` where the file has no such map, or the map cannot be read.
  func use(of page: Int) throws -> Use? {
    let map = parentMap(of: page)
    guard hasParents, page > map, let bytes = try bytes(of: map) else { return nil }
    let place = 5 * (page - map - 1)
    guard place + 5 <= bytes.count else { return nil }
    return switch bytes[place] {
    case 1: .root
    case 2: .free
    case 3, 4: .overflow
    case 5: .child(of: Int(bytes.bigEndian32(at: place + 1)))
    default: nil
    }
  }
}
