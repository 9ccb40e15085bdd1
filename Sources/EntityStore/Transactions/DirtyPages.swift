import Foundation
import LMDB

/// An upper estimate of the pages that a transaction has changed, which LMDB does not report.
struct DirtyPages {
  /// LMDB's page on Debian's processors.
  static let pageBytes = 4_096

  private var bytesAppended = 0
  private var recordPages = 0
  /// The address of the last record that was replaced or deleted.
  private var lastRecord = 0

  /// Counts the write of a record.
  ///
  /// Neighboring records lie on one page, which the first change of them copies: a page is counted
  /// twice at most.
  ///
  /// - Parameter old: The bytes that are stored now, in place; `nil` for a new record.
  /// - Parameter bytes: The size of the new record; 0 for a deletion.
  @inline(__always)
  mutating func countRecord(old: UnsafeRawPointer?, bytes: Int) {
    guard let old else {
      bytesAppended += bytes
      return
    }
    let address = Int(bitPattern: old)
    if abs(address &- lastRecord) >= Self.pageBytes { recordPages += 1 }
    // A large record has pages of its own.
    recordPages += bytes / (Self.pageBytes / 2)
    lastRecord = address
  }

  /// Returns the pages of the records that were counted.
  var ofRecords: Int { recordPages + bytesAppended / (Self.pageBytes * 3 / 4) }

  /// Returns the pages of a tree that changes of entries in random places touch, and those that
  /// they add.
  ///
  /// The estimate is *p* · (1 − e^(−*n*/*p*)) for *n* random changes in *p* pages. Changes that lie
  /// closer together touch fewer.
  static func of(entries count: Int, in tree: TreeStatistics) -> Int {
    if count == 0 { return 0 }
    let pages = Double(max(1, tree.leafPages))
    let touched = pages * (1 - exp(-Double(count) / pages))
    return Int(touched.rounded(.up)) + tree.depth + count / entriesPerPageMin
  }

  /// The entries on a leaf page of an index that was just split.
  private static let entriesPerPageMin = 40
}
