public import EntityStore

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
  /// The records of a store of an earlier version get seals first, in the store itself, by which
  /// damage is found; programs of earlier versions can only read the store from then on.
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

  func run(_ progress: (CopyProgress) throws -> Void) throws -> CompactionReport {
    guard try StoreFile(in: folder).mark() != nil else {
      throw StoreError.storeMissing([("path", folder)])
    }
    // Checked before the work, to report at once which process has the store open.
    try StoreFile.requireClosed(folder, within: options.writerDeadline)
    try seal()
    guard let before = try StoreFile(in: folder).mark() else {
      throw StoreError.storeMissing([("path", folder)])
    }
    let staging = try StagingFolder.claim(inStore: folder)
    defer { staging.remove() }
    try copy(to: staging, progress)
    let compacted = StoreFile(in: staging.store)
    guard let copy = try compacted.mark(), copy.bytes < before.bytes else {
      return report(before.bytes, before.bytes)
    }
    try progress(.checking(bytes: copy.bytes))
    try compacted.replaceData(in: folder, within: options.writerDeadline) { current in
      // The replacement would lose a commit that came after the copy.
      guard current == before else { throw written }
      return nil
    }
    return report(before.bytes, copy.bytes)
  }

  /// Gives seals to the records of a store of an earlier version.
  private func seal() throws {
    guard try lacksSeals() else { return }
    let store = try Store(
      folder: folder, policy: ReadingOnly(), creates: false, options: options)
    do {
      try store.sealRecords()
    } catch let error as StoreError where error.code == .damaged {
      // The check reports the damaged record, which is copied as it is.
    }
    store.close()
  }

  private func lacksSeals() throws -> Bool {
    // The catalog is read through the map, where damage would end the process.
    _ = try soundPages(of: folder)
    let store = try UncheckedStore(folder: folder, options)
    // The data of other programs must not be rewritten.
    try store.requireCatalog()
    return try store.lacksSeals()
  }

  /// Copies the store, and compares the trees of the copy with those of the store.
  private func copy(
    to staging: StagingFolder, _ progress: (CopyProgress) throws -> Void
  ) throws {
    // Compacting follows the pages through the map, where damage would end the process.
    let pages = try soundPages(of: folder)
    let bytes = pages.bytesUsed
    try StoreFile.requireRoom(for: bytes, in: folder)
    let store = try UncheckedStore(folder: folder, options)
    try store.copyCompacted(to: staging.store) { try progress(.copying(bytes: $0, of: bytes)) }
    try progress(.checking(bytes: bytes))
    guard try soundPages(of: staging.store).entries == pages.entries else { throw written }
  }

  private func soundPages(of folder: String) throws -> PageReport {
    let report = try PageReport(ofFileIn: folder)
    guard let first = report.problems.first else { return report }
    // Writers that are faster than the check make an undamaged file look damaged.
    if report.wasOvertaken { throw written }
    throw StoreError.damaged(folder, problems: report.problemCount, first: first)
  }

  private func report(_ before: Int, _ after: Int) -> CompactionReport {
    CompactionReport(path: folder, bytesBefore: before, bytesAfter: after)
  }

  private var written: StoreError {
    StoreError(
      .busy, "the store was written to while it was compacted", [("path", folder)],
      advice: "stop the programs that write to it, and try again; nothing was changed")
  }
}
