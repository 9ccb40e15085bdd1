import LMDB

/// The data file of a store, as a file that is read, copied and replaced, but never mapped. The
/// store may be closed or damaged, and the file may be missing.
package struct StoreFile: Sendable {
  /// The state of a data file, by which a change or a replacement is recognized.
  package struct Mark: Hashable, Sendable {
    private let mark: DataFile.Mark

    fileprivate init(_ mark: DataFile.Mark) { self.mark = mark }

    /// The size of the file.
    package var bytes: Int { mark.bytes }

    /// True if no commit was ever made to the file.
    package var isUncommitted: Bool { mark.isUncommitted }

    /// Returns true if both are the same file, even if there were commits in between.
    package func isSameFile(as other: Mark) -> Bool { mark.isSameFile(as: other.mark) }
  }

  package let path: String

  package init(path: String) { self.path = path }

  /// Names the data file of the store in a folder.
  package init(in folder: String) { path = DataFile.path(in: folder) }

  /// Returns the state of the file; `nil` if there is no such file.
  ///
  /// - Throws: `StorageError` with `.permission`, `.inputOutput`, `.notAFolder`.
  package func mark() throws -> Mark? { try DataFile.mark(of: path).map(Mark.init) }

  /// Copies the file, which no process may write to, and flushes the copy.
  ///
  /// - Parameter target: A file that does not exist; it gets mode 0600.
  /// - Parameter progress: Called with the number of copied bytes. Its error ends the copy.
  /// - Throws: The errors of `progress`; `StorageError` with `.storeMissing`, `.permission`,
  ///   `.inputOutput`, `.diskFull`; with `.busy` if a process has written to the file during the
  ///   copy. No file is left then.
  package func copy(to target: StoreFile, progress: (Int) throws -> Void) throws {
    try DataFile.copy(from: path, to: target.path, progress: progress)
  }

  /// Checks that a folder has room for a file.
  ///
  /// - Throws: `StorageError` with `.diskFull`.
  package static func requireRoom(for bytes: Int, in folder: String) throws {
    try DataFile.requireRoom(for: bytes, in: folder)
  }

  /// Waits until no process has the store in a folder open.
  ///
  /// - Parameter limit: The longest wait.
  /// - Throws: `StorageError` with `.busy`, with the process that has the store open; with
  ///   `.permission`.
  package static func requireClosed(_ folder: String, within limit: Duration) throws {
    try Environment.whileClosed(folder, within: limit) { _ in }
  }

  /// Moves this file to the place of the data file in a folder while no process has that store
  /// open. After a kill, the store is either the old file or this one, complete.
  ///
  /// - Parameter folder: An existing folder on the same file system; it need not contain a store.
  /// - Parameter limit: The longest wait for processes that have the store open.
  /// - Parameter keptPath: Called just before, with the state of the file that is replaced. Returns
  ///   a path in the same folder under which that file is kept, or `nil` to remove it. Its error
  ///   prevents the replacement.
  /// - Returns: The path under which the replaced file is kept.
  /// - Throws: The errors of `keptPath`; `StorageError` with `.busy`, `.permission`, `.diskFull`,
  ///   `.inputOutput`. The store is then unchanged.
  @discardableResult
  package func replaceData(
    in folder: String, within limit: Duration, keptPath: (Mark?) throws -> String?
  ) throws -> String? {
    try Environment.whileClosed(folder, within: limit) { closed in
      let kept = try keptPath(try closed.mark().map(Mark.init))
      try closed.replaceData(with: path, keepingAs: kept)
      return kept
    }
  }
}
