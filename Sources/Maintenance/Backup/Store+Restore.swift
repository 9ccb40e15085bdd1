public import EntityStore
public import Foundation
import SystemSupport

/// The options of a restore.
public struct RestoreOptions: Sendable {
  /// Checks records, indexes and the change history. Pages and catalog are always checked.
  public var checksDeeply = true
  /// Allows a backup to replace a different store, or a file that is not kept and whose store
  /// cannot be identified.
  public var replacesOtherStore = false
  /// Keeps the replaced data file under another name in the same folder.
  public var keepsReplaced = true
  /// The source of the time in the name of the replaced file.
  public var now: @Sendable () -> Date = { Date() }

  public init() {}
}

/// The result of a restore.
public struct RestoreReport: Codable, Hashable, Sendable {
  /// The path of the store's folder.
  public let path: String
  public let bytes: Int
  public let storeID: UUID
  /// The number of the last transaction that the store has after the restore.
  public let transaction: Int64
  /// The position in the change history after that transaction.
  public let token: HistoryToken
  /// The name of the replaced file, if there was one and it is kept. It can be restored like a
  /// backup.
  public let replacedFile: String?
}

extension Store {
  /// Replaces a store by a backup, or creates the store from it.
  ///
  /// The source is only read: it is copied into the target's folder, the copy is checked, and then
  /// replaces the data file while no process has the store open. A kill at any moment leaves either
  /// the old or the new store, complete, and the next run removes the files of the killed one. All
  /// other files in the folder stay. Blocks the calling thread.
  ///
  /// A history token of a commit that the backup does not have is refused when it is used
  /// (`invalidToken`).
  ///
  /// - Parameter source: The folder of a backup or of a store that is not in use, or its data file.
  /// - Parameter folder: The store's folder; created with mode 0700 if it is missing.
  /// - Parameter opening: Its `writerDeadline` is the time to wait for processes that have the
  ///   store open, at the beginning and again at the end.
  /// - Parameter progress: As for `backUp`.
  /// - Throws: The errors of `progress`; `storeMissing` if there is no backup; `damaged`,
  ///   `notAStore`, `newerFormat` if the backup cannot be used; `occupied` if the target is another
  ///   store; `invalidRequest` if the backup is the store itself; `busy`, which names the process
  ///   that has the store open, even if it is this one; `diskFull`, which is checked before
  ///   anything is copied; `notPermitted`, `readOnly`, `inputOutput` or another storage failure.
  ///   The store is then unchanged.
  /// - Complexity: O(size of the backup); with the deep check O(*e* · log *n*) for *e* index
  ///   entries.
  @discardableResult
  public static func restore(
    from source: String, to folder: String, options: RestoreOptions = RestoreOptions(),
    opening: Options = Options(), progress: (CopyProgress) throws -> Void = { _ in }
  ) throws -> RestoreReport {
    try translatingStorageErrors {
      try Restore(source: source, folder: folder, options: options, opening: opening).run(progress)
    }
  }
}

private struct Restore {
  let source: String
  let folder: String
  let options: RestoreOptions
  let opening: Store.Options

  func run(_ progress: (CopyProgress) throws -> Void) throws -> RestoreReport {
    let sourceFile = try sourceFile()
    guard let backup = try sourceFile.mark() else { throw missing }
    guard !backup.isUncommitted else { throw isEmpty }
    let replaced = try StoreFile(in: folder).mark()
    if let replaced, replaced.isSameFile(as: backup) { throw isItself }
    // Checked before the work, to report at once which process has the store open.
    if replaced != nil {
      try StoreFile.requireClosed(folder, within: opening.writerDeadline)
    }
    let occupant = try UncheckedStore.identity(in: folder, opening)
    try StagingFolder.makeFolders(folder)
    let staging = try StagingFolder.claim(inStore: folder)
    defer { staging.remove() }
    let copy = try copy(sourceFile, backup.bytes, to: staging, progress)
    try occupant.requireReplaceable(by: copy.storeID, folder, options)
    let kept = try swap(staging, replaced)
    return RestoreReport(
      path: folder, bytes: copy.bytes, storeID: copy.storeID,
      transaction: copy.token.sequence, token: copy.token,
      replacedFile: kept)
  }

  private func sourceFile() throws -> StoreFile {
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: source, isDirectory: &isFolder) else {
      throw missing
    }
    return isFolder.boolValue ? StoreFile(in: source) : StoreFile(path: source)
  }

  private func copy(
    _ sourceFile: StoreFile, _ bytes: Int, to staging: StagingFolder,
    _ progress: (CopyProgress) throws -> Void
  ) throws -> CheckedCopy {
    try StoreFile.requireRoom(for: bytes, in: folder)
    try sourceFile.copy(to: StoreFile(in: staging.store)) {
      try progress(.copying(bytes: $0, of: bytes))
    }
    try progress(.checking(bytes: bytes))
    let copy = try CheckedCopy(
      folder: staging.store, named: source, deeply: options.checksDeeply, options: opening)
    try progress(.checking(bytes: bytes))
    return copy
  }

  /// Replaces the data file by the copy.
  ///
  /// - Returns: The name of the replaced file; `nil` if there is none or it is not kept.
  private func swap(_ staging: StagingFolder, _ replaced: StoreFile.Mark?) throws -> String? {
    let copy = StoreFile(in: staging.store)
    return try copy.replaceData(in: folder, within: opening.writerDeadline) { current in
      // The earlier checks apply to this file only. Commits may have been added to it since.
      guard current == replaced || current.flatMap({ replaced?.isSameFile(as: $0) }) == true else {
        throw isReplaced
      }
      return options.keepsReplaced && current != nil ? pathForReplaced() : nil
    }
  }

  /// Returns the path of `data.mdb.replaced-20260131T120000Z` or, if that name is taken, with a
  /// number at its end.
  private func pathForReplaced() -> String {
    let stamp = options.now().formatted(
      Date.ISO8601FormatStyle(
        dateSeparator: .omitted, dateTimeSeparator: .standard, timeSeparator: .omitted))
    return unusedPath(StoreFile(in: folder).path + ".replaced-" + stamp)
  }

  private var missing: StoreError {
    StoreError(
      .storeMissing, "there is no backup at this path", [("path", source)],
      advice: "name the folder that `mooring backup` has made, or a data.mdb")
  }

  private var isEmpty: StoreError {
    StoreError(
      .notAStore, "the backup is an empty file", [("path", source)],
      advice: "name the folder that `mooring backup` has made, or a data.mdb; nothing was changed")
  }

  private var isItself: StoreError {
    StoreError(
      .invalidRequest, "the backup is the store itself", [("path", source)],
      advice: "check both paths")
  }

  private var isReplaced: StoreError {
    StoreError(
      .busy, "another process has put a store there since", [("path", folder)],
      advice: "check that store, and try again; nothing was changed")
  }
}

extension StagingFolder {
  /// Claims the folder in which the replacement of a store's data file is prepared.
  static func claim(inStore folder: String) throws -> StagingFolder {
    try claim(folder + "/replacement.partial", ownedBy: .ofParent)
  }
}
