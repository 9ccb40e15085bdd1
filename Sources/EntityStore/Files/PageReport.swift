import LMDB

/// The result of a check of the pages of a data file.
package struct PageReport: Sendable {
  /// The number of pages up to the last one that was ever used.
  package let total: Int
  package let free: Int
  /// Pages that are neither free nor in use. They waste space, but are no damage.
  package let lost: Int
  /// The size of a page in bytes.
  package let pageSize: Int
  /// The first problems, up to the limit of the check.
  package let problems: [String]
  package let problemCount: Int
  /// True if other processes have committed so often during the check that the reported damage may
  /// be their writes.
  package let wasOvertaken: Bool
  /// The number of entries of each named tree.
  package let entries: [String: Int]

  /// The bytes of the pages that are in use.
  package var bytesUsed: Int { (total - free) * pageSize }

  /// Checks the pages of the data file in a folder. The file is not mapped, so that no damage can
  /// end the process.
  ///
  /// - Parameter limit: The number of problems to describe.
  /// - Throws: `StorageError` if the file cannot be read. Damage is in the report.
  /// - Complexity: O(pages used).
  package init(ofFileIn folder: String, limit: Int = 20) throws {
    self.init(try PageFile.verify(folder: folder, limit: limit))
  }

  init(_ report: PageFile.Report) {
    total = report.pagesTotal
    free = report.pagesFree
    lost = report.pagesLost
    pageSize = report.pageSize
    problems = report.problems.map(\.description)
    problemCount = report.problemsTotal
    wasOvertaken = report.wasOvertaken
    var entries: [String: Int] = [:]
    for tree in report.trees where tree.name != "(free list)" { entries[tree.name] = tree.entries }
    self.entries = entries
  }
}

extension Store {
  /// Checks the pages of this store, on a snapshot, so that writers cannot make them look damaged.
  package func checkPages() throws -> PageReport {
    PageReport(try PageFile.verify(folder: folder, snapshotOf: environment))
  }
}
