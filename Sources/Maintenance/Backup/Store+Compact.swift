public import EntityStore
import LMDB
import SystemSupport

/// The sizes before and after a compaction.
public struct CompactionReport: Codable, Hashable, Sendable {
  /// The path of the store's folder.
  public let path: String
  public let bytesBefore: Int
  public let bytesAfter: Int
}

extension Store {
  /// Reduces the data file of a store to the size of its data. Writes alone only reuse free pages.
  ///
  /// A compacted copy is made in the store's folder, read back, and replaces the data file while no
  /// process has the store open. Other processes may read and write until then; if one of them has
  /// written, or has the store open at the end, the copy is discarded and nothing is changed. A
  /// kill at any moment leaves the store complete, and the next run removes the files of the killed
  /// one. All other files in the folder stay. Blocks the calling thread.
  ///
  /// - Parameter options: Its `writerDeadline` is the time to wait for processes that have the
  ///   store open, at the beginning and again at the end.
  /// - Parameter progress: As for `backUp`.
  /// - Returns: The sizes; equal ones if there were no free pages to remove, and then the file is
  ///   unchanged.
  /// - Throws: The errors of `progress`; `storeMissing`, `notAStore`, `newerFormat`; `damaged`;
  ///   `busy`, which names the process that has the store open, even if it is this one; `diskFull`,
  ///   which is checked before anything is copied; `notPermitted`, `readOnly`, `inputOutput` or
  ///   another storage failure. The store is then unchanged.
  /// - Complexity: O(size of the store).
  @discardableResult
  public static func compact(
    at folder: String, options: Options = Options(),
    progress: (CopyProgress) throws -> Void = { _ in }
  ) throws -> CompactionReport {
    try translatingStorageErrors {
      let compaction = Compaction(folder: folder, options: options)
      return try compaction.run(progress)
    }
  }
}

private struct Compaction {
  let folder: String
  let options: Store.Options

  private var dataFile: String { DataFile.path(in: folder) }

  func run(_ progress: (CopyProgress) throws -> Void) throws -> CompactionReport {
    guard let before = try DataFile.mark(of: dataFile) else {
      throw StoreError.storeMissing([("path", folder)])
    }
    // Checked before the work, to report at once which process has the store open.
    try Environment.whileClosed(folder, within: options.writerDeadline) { _ in }
    let staging = try StagingFolder.claim(StagingFolder.path(inStore: folder))
    defer { staging.remove() }
    try copy(to: staging, progress)
    guard let copy = try DataFile.mark(of: DataFile.path(in: staging.store)),
      copy.bytes < before.bytes
    else { return report(before.bytes, before.bytes) }
    try progress(.checking(bytes: copy.bytes))
    try Environment.whileClosed(folder, within: options.writerDeadline) { closed in
      // The replacement would lose a commit that came after the copy.
      guard try closed.mark() == before else { throw written }
      try closed.replaceData(with: DataFile.path(in: staging.store), keepingAs: nil)
    }
    return report(before.bytes, copy.bytes)
  }

  /// Copies the store, and compares the trees of the copy with those of the store.
  private func copy(
    to staging: StagingFolder, _ progress: (CopyProgress) throws -> Void
  ) throws {
    // Compacting follows the pages through the map, where damage would end the process.
    let pages = try soundPages(of: folder)
    let bytes = (pages.pagesTotal - pages.pagesFree) * pages.pageSize
    try DataFile.requireRoom(for: bytes, in: folder)
    var opening = Environment.Options(mapSize: options.mapSize, access: .readOnly)
    opening.guardsFaults = options.endsOnPageFaults
    opening.writerDeadline = options.writerDeadline
    let environment = try Environment.open(at: folder, options: opening)
    try requireCatalog(environment)
    try environment.copy(toFolder: staging.store, compacting: true) {
      try progress(.copying(bytes: $0, of: bytes))
    }
    try progress(.checking(bytes: bytes))
    guard try entries(soundPages(of: staging.store)) == entries(pages) else { throw written }
  }

  private func soundPages(of folder: String) throws -> PageFile.Report {
    let report = try PageFile.verify(folder: folder)
    guard let first = report.problems.first else { return report }
    // Writers that are faster than the check make an undamaged file look damaged.
    if report.wasOvertaken { throw written }
    throw StoreError.damaged(folder, problems: report.problemsTotal, first: first.description)
  }

  /// Refuses the data of other programs, which must not be rewritten.
  private func requireCatalog(_ environment: Environment) throws {
    try environment.read { transaction in
      guard let tree = try environment.tree(named: CatalogTree.name, in: transaction) else {
        throw StoreError(
          .notAStore, "the folder holds no Mooring store", [("folder", folder)],
          advice: "check the path")
      }
      _ = try StoredCatalog.readHeader(tree, in: transaction)
    }
  }

  private func entries(_ report: PageFile.Report) -> [String: Int] {
    var entries: [String: Int] = [:]
    for tree in report.trees where tree.name != "(free list)" { entries[tree.name] = tree.entries }
    return entries
  }

  private func report(_ before: Int, _ after: Int) -> CompactionReport {
    CompactionReport(path: folder, bytesBefore: before, bytesAfter: after)
  }

  private var written: StoreError {
    StoreError(
      .busy, "the store was written to while it was compacted", [("path", folder)],
      advice: "stop those who write, and try again; nothing was changed")
  }
}
