public import EntityStore
public import Foundation
import LMDB
import SystemSupport

/// What a restore may do.
public struct RestoreOptions: Sendable {
  /// Checks records against indexes and back, and the history. Pages and catalog are checked in any
  /// case.
  public var checksDeeply = true
  /// Lets a backup of one store take the place of another one, or of a file that no longer tells
  /// which store it is and is not to be kept.
  public var replacesOtherStore = false
  /// Keeps the data file that is replaced, under another name beside it.
  public var keepsReplaced = true
  /// The time for the name of the replaced file.
  public var now: @Sendable () -> Date = { Date() }

  public init() {}
}

/// A store that was put back.
public struct RestoreReport: Codable, Hashable, Sendable {
  /// The folder.
  public let path: String
  public let bytes: Int
  public let storeID: UUID
  /// The number of the last transaction that the store has now.
  public let transaction: Int64
  /// The place in the history behind it.
  public let token: HistoryToken
  /// The file that was replaced, if there was one and it was to be kept. It can be restored like a
  /// backup.
  public let replacedFile: String?
}

extension Store {
  /// Puts a backup in the place of a store, or where there is none yet.
  ///
  /// The source is only read: it is copied into the target's folder, the copy is checked, and then
  /// takes the place of the data file while nobody has the store open. A kill at any moment leaves
  /// the old store or the new one, whole, and the next run removes what it has left. All other
  /// files in the folder stay. Blocks the calling thread.
  ///
  /// Who holds a history token of a commit that the backup does not have is told so when the token
  /// is used (`invalidToken`).
  ///
  /// - Parameter source: The folder of a backup or of a store that is not in use, or its data file.
  /// - Parameter folder: The store's folder; made, mode 0700, if it is missing.
  /// - Parameter opening: Its `writerDeadline` is how long to wait for those who have the store
  ///   open, at the beginning and again at the end.
  /// - Parameter progress: As for `backUp`.
  /// - Throws: What `progress` throws; `storeMissing` if there is no backup; `damaged`,
  ///   `notAStore`,
  ///   `newerFormat` if the backup cannot be used; `occupied` if the target is another store;
  ///   `invalidRequest` if the backup is the store itself; `storage` with `busy`, which says who
  ///   has the store open, also if it is this process; with `diskFull`, which is seen before
  ///   anything is copied; with `permission`, `inputOutput`. The store is as it was then.
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
    guard let backup = try DataFile.mark(of: sourceFile) else { throw missing }
    guard backup.bytes > 0 else { throw isEmpty }
    let replaced = try DataFile.mark(of: DataFile.path(in: folder))
    if let replaced, replaced.isSameFile(as: backup) { throw isItself }
    // Before the work, to say at once who has it open.
    if replaced != nil {
      try Environment.whileClosed(folder, within: opening.writerDeadline) { _ in }
    }
    let occupant = try Occupant(of: folder, opening)
    try FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    let staging = try StagingFolder.claim(StagingFolder.path(inStore: folder))
    defer { staging.remove() }
    let copy = try copy(sourceFile, backup.bytes, to: staging, progress)
    try occupant.requireReplaceable(by: copy.storeID, folder, options)
    let kept = try swap(staging, replaced)
    return RestoreReport(
      path: folder, bytes: copy.bytes, storeID: copy.storeID,
      transaction: copy.token.sequence, token: copy.token,
      replacedFile: kept)
  }

  private func sourceFile() throws -> String {
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: source, isDirectory: &isFolder) else {
      throw missing
    }
    return isFolder.boolValue ? DataFile.path(in: source) : source
  }

  private func copy(
    _ sourceFile: String, _ bytes: Int, to staging: StagingFolder,
    _ progress: (CopyProgress) throws -> Void
  ) throws -> CheckedCopy {
    try DataFile.requireRoom(for: bytes, in: folder)
    try FileManager.default.createDirectory(
      atPath: staging.store, withIntermediateDirectories: false,
      attributes: [.posixPermissions: 0o700])
    try DataFile.copy(from: sourceFile, to: DataFile.path(in: staging.store)) {
      try progress(.copying(bytes: $0, of: bytes))
    }
    try progress(.checking(bytes: bytes))
    let copy = try CheckedCopy(
      folder: staging.store, named: source, deeply: options.checksDeeply, options: opening)
    try progress(.checking(bytes: bytes))
    return copy
  }

  /// - Returns: The name of the replaced file.
  private func swap(_ staging: StagingFolder, _ replaced: DataFile.Mark?) throws -> String? {
    try Environment.whileClosed(folder, within: opening.writerDeadline) { closed in
      let current = try closed.mark()
      // What was found out about the store is of this file. Commits may have come since.
      guard current == replaced || current.flatMap({ replaced?.isSameFile(as: $0) }) == true else {
        throw isReplaced
      }
      let kept = options.keepsReplaced && current != nil ? nameForReplaced() : nil
      try closed.replaceData(with: DataFile.path(in: staging.store), keepingAs: kept)
      return kept
    }
  }

  /// `data.mdb.replaced-20260131T120000Z`, with a number behind it if that is taken.
  private func nameForReplaced() -> String {
    let stamp = options.now().formatted(
      Date.ISO8601FormatStyle(
        dateSeparator: .omitted, dateTimeSeparator: .standard, timeSeparator: .omitted))
    let name = DataFile.path(in: folder) + ".replaced-" + stamp
    var candidate = name
    var number = 2
    while FileManager.default.fileExists(atPath: candidate) {
      candidate = "\(name)-\(number)"
      number += 1
    }
    return candidate
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

  private var isReplaced: StorageError {
    StorageError(
      .busy, "another process has put a store there meanwhile", context: [("path", folder)],
      advice: "look at it, and try again; nothing was changed")
  }
}

extension StagingFolder {
  /// Where a data file is made ready that is to replace that of a store.
  static func path(inStore folder: String) -> String { folder + "/replacement.partial" }
}
