public import EntityStore
import LMDB
import SystemSupport

/// What compacting has won.
public struct CompactionReport: Codable, Hashable, Sendable {
  /// The folder.
  public let path: String
  public let bytesBefore: Int
  public let bytesAfter: Int
}

extension Store {
  /// Makes the file of a store as small as its data, where writes alone only use its free pages
  /// again.
  ///
  /// A compacted copy is made in the store's folder, read back, and put in the place of the data
  /// file while nobody has the store open. Others may read and write until then; if somebody has
  /// written, or has the store open at the end, the copy is given up and nothing is changed. A kill
  /// at any moment leaves the store whole, and the next run removes what it has left. All other
  /// files in the folder stay. Blocks the calling thread.
  ///
  /// - Parameter options: Its `writerDeadline` is how long to wait for those who have the store
  ///   open, at the beginning and again at the end.
  /// - Parameter progress: As for `backUp`.
  /// - Returns: The sizes; equal ones if there was nothing to win, and then the file is the same.
  /// - Throws: What `progress` throws; `storeMissing`, `notAStore`, `newerFormat`; `damaged`;
  ///   `storage` with `busy`, which says who has the store open, also if it is this process; with
  ///   `diskFull`, which is seen before anything is copied; with `permission`, `inputOutput`. The
  ///   store is as it was then.
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
    guard let before = try DataFile.mark(of: dataFile) else { throw missing }
    // Before the work, to say at once who has it open.
    try Environment.whileClosed(folder, within: options.writerDeadline) { _ in }
    let staging = try StagingFolder.claim(StagingFolder.path(inStore: folder))
    defer { staging.remove() }
    try copy(to: staging, progress)
    guard let copy = try DataFile.mark(of: DataFile.path(in: staging.store)),
      copy.bytes < before.bytes
    else { return report(before.bytes, before.bytes) }
    try progress(.checking(bytes: copy.bytes))
    try Environment.whileClosed(folder, within: options.writerDeadline) { closed in
      // A commit that came after the copy would be lost.
      guard try closed.mark() == before else { throw written }
      try closed.replaceData(with: DataFile.path(in: staging.store), keepingAs: nil)
    }
    return report(before.bytes, copy.bytes)
  }

  /// Copies, and holds the copy's trees against the store's.
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
    // A writer that is too quick for the walk makes a sound file look damaged.
    if report.wasOvertaken { throw written }
    throw StoreError.damaged(folder, problems: report.problemsTotal, first: first.description)
  }

  /// Another program's data is not ours to rewrite.
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

  private var missing: StorageError {
    StorageError(
      .storeMissing, "there is no store at this path", context: [("path", folder)],
      advice: "check the path")
  }

  private var written: StorageError {
    StorageError(
      .busy, "the store was written to while it was compacted", context: [("path", folder)],
      advice: "stop those who write, and try again; nothing was changed")
  }
}
