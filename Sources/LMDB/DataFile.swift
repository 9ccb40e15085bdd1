import Glibc
import SystemSupport

/// The data file of a store as a plain file, which is read and copied but never mapped.
public enum DataFile {
  /// The state of a data file, by which a change or a replacement is recognized.
  public struct Mark: Hashable, Sendable {
    private let identity: StoreFiles.Identity
    /// The number of the last commit; nil if no meta page can be read.
    public let lastCommit: UInt64?
    /// The size of the file.
    public let bytes: Int
    /// True if no commit was ever made to the file, which is empty or which a crash has left in the
    /// middle of its creation.
    public let isUncommitted: Bool

    fileprivate init(_ source: PageSource) throws(StorageError) {
      var status = stat()
      guard fstat(source.descriptor, &status) == 0 else {
        throw .system(errno, "the data file cannot be read", context: [("path", source.path)])
      }
      identity = StoreFiles.Identity(device: UInt(status.st_dev), inode: UInt(status.st_ino))
      bytes = Int(status.st_size)
      lastCommit = try source.readMetaPages().compactMap(\.page?.transaction).max()
      isUncommitted = try source.isUncommitted()
    }

    /// True if both are the same file, even if there were commits in between.
    public func isSameFile(as other: Mark) -> Bool { identity == other.identity }
  }

  /// Returns the path of a store's data file.
  public static func path(in folder: String) -> String { StoreFiles.dataFile(folder) }

  /// - Returns: the state of the file; nil if there is no such file.
  /// - Throws: `.permission`, `.inputOutput`, `.notAFolder`.
  public static func mark(of path: String) throws -> Mark? {
    do throws(StorageError) {
      let source = try PageSource.open(path, orThrow: "the data file cannot be read")
      defer { close(source.descriptor) }
      return try Mark(source)
    } catch {
      if error.code == .storeMissing { return nil }
      throw error
    }
  }

  /// Copies a data file that no process writes to, and flushes the copy. The source is only read.
  ///
  /// No lock is taken. A commit does not change the pages of the commit before it, so the copy is
  /// sound if no commit happens while it is made, which is checked.
  ///
  /// - Parameter target: must not exist; gets mode 0600.
  /// - Parameter progress: is called with the number of bytes copied; an error that it throws ends
  ///   the copy.
  /// - Throws: `.storeMissing`, `.permission`, `.inputOutput`, `.diskFull`; `.busy` if a process
  ///   has written to the source during the copy. No file is left then.
  public static func copy(
    from path: String, to target: String, progress: (Int) throws -> Void = { _ in }
  ) throws {
    let source = try PageSource.open(path, orThrow: "the data file cannot be read")
    defer { close(source.descriptor) }
    let descriptor: Int32
    do {
      descriptor = try FolderFile.open(target, .createNew)
    } catch {
      throw StorageError.system(error, "the copy cannot be created", context: [("path", target)])
    }
    defer { close(descriptor) }
    do {
      let before = try Mark(source)
      try copy(source, to: PageSource(descriptor: descriptor, path: target), progress)
      guard try Mark(source) == before else { throw written(path) }
      guard fsync(descriptor) == 0 else {
        throw StorageError.system(errno, "the copy cannot be flushed", context: [("path", target)])
      }
    } catch {
      unlink(target)
      throw error
    }
  }

  /// - Throws: `.diskFull` if the folder has no room for a file of this many bytes.
  public static func requireRoom(for bytes: Int, in folder: String) throws {
    guard let free = StoreFiles.freeBytes(folder: folder), free < bytes else { return }
    throw StorageError(
      .diskFull, "the copy has no room",
      context: [
        ("path", folder), ("needed bytes", String(bytes)), ("free bytes", String(free)),
      ], advice: "free some space, or choose another device; nothing was changed")
  }

  private static func copy(
    _ source: PageSource, to target: PageSource, _ progress: (Int) throws -> Void
  ) throws {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 4096)
    defer { buffer.deallocate() }
    var done = 0
    while true {
      let count = try source.read(into: buffer, at: done)
      if count == 0 { return }
      try target.write(UnsafeRawBufferPointer(rebasing: buffer[..<count]), at: done)
      done += count
      try progress(done)
    }
  }

  private static func written(_ path: String) -> StorageError {
    StorageError(
      .busy, "another program wrote to the source while it was copied", context: [("path", path)],
      advice: "copy a store in use with `mooring backup`")
  }
}

extension PageSource {
  fileprivate func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(StorageError) {
    var done = 0
    while done < bytes.count {
      let rest = UnsafeRawBufferPointer(rebasing: bytes[done...])
      let count = pwrite(descriptor, rest.baseAddress, rest.count, offset + done)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else {
        throw .system(
          count == 0 ? ENOSPC : errno, "the copy cannot be written", context: [("path", path)])
      }
      done += count
    }
  }
}
