import CMooringLMDB
import Dispatch
import Glibc
import SystemSupport

extension Environment {
  /// Copies the last commit into `data.mdb` of another folder, which is created (mode 0700) if it
  /// is missing, while readers and writers continue. A write that is running is waited for, unless
  /// the copy is compacting; within one this fails. The copy is flushed when this returns.
  ///
  /// - Parameter compacting: leaves free pages out, which takes about twice the processor time. The
  ///   commit numbers of the copy then begin at 1 again.
  /// - Parameter progress: is called on this thread, about ten times a second and more often during
  ///   the wait, with the number of bytes that were copied. An error that it throws ends the copy.
  /// - Throws: the errors of `progress`; `.programming` if that folder already contains a store;
  ///   `.busy`, with its process, if a write takes longer than `Options.writerDeadline`;
  ///   `.diskFull`, `.permission`, `.inputOutput`; `.damaged`. No file is left then.
  public func copy(
    toFolder target: String, compacting: Bool, progress: (Int) throws -> Void = { _ in }
  ) throws {
    try StoreFiles.prepareFolder(target, create: true)
    let path = StoreFiles.dataFile(target)
    let descriptor: Int32
    do {
      descriptor = try FolderFile.open(path, .createNew)
    } catch {
      throw Self.cannotCreateCopy(path, error)
    }
    do {
      var result = try copy(to: descriptor, compacting: compacting, progress)
      if result == MDB_SUCCESS, fsync(descriptor) != 0 { result = errno }
      guard result == MDB_SUCCESS else { throw copyFailure(result, target: target) }
    } catch {
      close(descriptor)
      unlink(path)
      throw error
    }
    guard close(descriptor) == 0 else {
      let number = errno
      unlink(path)
      throw copyFailure(number, target: target)
    }
    try StoreFiles.flushNames(target)
  }

  /// LMDB copies in one call that reports no progress and cannot be cancelled. So it runs on its
  /// own thread, the size of the file shows the progress, and to cancel it, its descriptor is
  /// replaced by one that cannot be written to.
  private func copy(
    to descriptor: Int32, compacting: Bool, _ progress: (Int) throws -> Void
  ) throws -> Int32 {
    var turn = compacting ? nil : try takeTurn(progress)
    defer { turn?.release() }
    readAhead.begin(in: self)
    defer { readAhead.end() }
    let copied = DispatchGroup()
    let result = Locked<Int32>(MDB_SUCCESS)
    DispatchQueue(label: "mooring.copy").async(group: copied) { [self] in
      let number = mdb_env_copyfd2(raw, descriptor, compacting ? UInt32(MDB_CP_COMPACT) : 0)
      result.withLock { $0 = number }
    }
    do {
      while copied.wait(timeout: .now() + .milliseconds(turn == nil ? 100 : 1)) == .timedOut {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { continue }
        if status.st_size > 0 {
          // The meta pages come first, and only they are read under LMDB's lock.
          turn?.release()
          turn = nil
        }
        try progress(Int(status.st_size))
      }
    } catch {
      Self.closeForWriting(descriptor)
      copied.wait()
      throw error
    }
    return result.withLock { $0 }
  }

  /// Takes the writer lock, because LMDB waits for its own without a deadline when it reads the
  /// meta pages.
  ///
  /// The lock has open files of its own: those of `writerLock` may be locked by a write of this
  /// process, and would be unlocked with the copy.
  ///
  /// - Returns: `nil` if the files of the lock cannot be written: then nobody writes to a store on
  ///   a read-only device, and on others the copy waits in LMDB.
  private func takeTurn(_ progress: (Int) throws -> Void) throws -> WriterLock? {
    let lock: WriterLock
    do throws(StorageError) {
      lock = try WriterLock(folder: folder)
    } catch {
      if error.code == .permission || error.code == .readOnly { return nil }
      throw error
    }
    var cancellation: (any Error)?
    func isCancelled() -> Bool {
      do { try progress(0) } catch { cancellation = error }
      return cancellation != nil
    }
    do {
      try lock.acquire(within: options.writerDeadline, isCancelled: isCancelled)
    } catch {
      throw cancellation ?? error
    }
    return lock
  }

  /// Replaces the descriptor and keeps its number in use, so that no other file can get the number
  /// while LMDB writes.
  private static func closeForWriting(_ descriptor: Int32) {
    let nothing = Glibc.open("/dev/null", O_RDONLY | O_CLOEXEC)
    // Without the replacement the copy runs to its end and is removed then.
    guard nothing >= 0 else { return }
    dup2(nothing, descriptor)
    close(nothing)
  }

  private static func cannotCreateCopy(_ path: String, _ error: SystemError) -> StorageError {
    guard error.number == EEXIST else {
      return .system(error, "the copy cannot be created", context: [("path", path)])
    }
    return StorageError(
      .programming, "the folder holds a store already", context: [("path", path)],
      advice: "copy into an empty folder")
  }

  private func copyFailure(_ result: Int32, target: String) -> StorageError {
    let context = [("path", target)]
    guard result == MDB_INCOMPATIBLE else {
      return .lmdb(result, doing: "copy", context: context)
    }
    return StorageError(
      .damaged, "the pages of the store do not add up", context: context,
      advice: "run `mooring check`, or copy without compacting")
  }
}
