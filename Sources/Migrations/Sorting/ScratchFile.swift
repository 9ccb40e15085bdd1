import EntityStore
import Glibc
import SystemSupport

/// An open scratch file, closed with the value.
///
/// It is read by `pread`, because a truncated file then causes a short read. In a memory map it
/// would cause a signal.
struct ScratchFile: ~Copyable {
  let path: String
  private let descriptor: Int32

  /// Opens a complete file.
  ///
  /// - Throws: `damaged` if it is missing.
  init(reading path: String) throws(StoreError) {
    do {
      descriptor = try FolderFile.open(path, .readOnly)
    } catch {
      if error.number == ENOENT { throw .damagedRun(path, "it is missing") }
      throw .scratch(error, "a scratch file cannot be read", path: path)
    }
    self.path = path
    posix_fadvise(descriptor, 0, 0, POSIX_FADV_SEQUENTIAL)
  }

  /// Creates the file, mode 0600, and replaces one that was left by a kill.
  init(creating path: String) throws(StoreError) {
    unlink(path)
    do {
      descriptor = try FolderFile.open(path, .createNew)
    } catch {
      throw .scratch(error, "a scratch file cannot be created", path: path)
    }
    self.path = path
  }

  deinit { close(descriptor) }

  func byteCount() throws(StoreError) -> Int {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else {
      throw .scratch(SystemError(), "a scratch file cannot be read", path: path)
    }
    return Int(status.st_size)
  }

  /// Fills the buffer from `offset`.
  ///
  /// - Throws: `damaged` if the file ends before, or its device cannot read it.
  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(StoreError) {
    var done = 0
    while done < buffer.count {
      let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[done...])
      let count = pread(descriptor, rest.baseAddress, rest.count, offset + done)
      if count < 0, errno == EINTR { continue }
      // A lost sector is a lost run, which is sorted again.
      if count < 0, errno == EIO { throw .damagedRun(path, "the device cannot read it") }
      guard count >= 0 else {
        throw .scratch(SystemError(), "a scratch file cannot be read", path: path)
      }
      if count == 0 { throw .damagedRun(path, "it is cut short") }
      done += count
    }
  }

  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(StoreError) {
    var done = 0
    while done < bytes.count {
      let rest = UnsafeRawBufferPointer(rebasing: bytes[done...])
      let count = pwrite(descriptor, rest.baseAddress, rest.count, offset + done)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else {
        throw .scratch(SystemError(), "a scratch file cannot be written", path: path)
      }
      done += count
    }
  }

  /// Makes the contents durable.
  func flush() throws(StoreError) {
    guard fsync(descriptor) == 0 else {
      throw .scratch(SystemError(), "a scratch file cannot be written", path: path)
    }
  }
}

extension StoreError {
  /// Returns the error for a run that is missing or not as it was written. This is an expected
  /// outcome, after which the caller sorts again.
  static func damagedRun(_ path: String, _ cause: String) -> StoreError {
    StoreError(
      .damaged, "a scratch file of a sort is damaged", [("path", path), ("cause", cause)],
      advice: "start again what was sorting; the store itself is not damaged")
  }

  /// Returns the error for a system call that failed on a scratch file.
  static func scratch(
    _ cause: SystemError, _ summary: StaticString, path: String
  ) -> StoreError {
    let context = [("path", path), ("cause", cause.text)]
    return switch cause.number {
    case ENOSPC, EDQUOT, EFBIG:
      StoreError(
        .diskFull, "no room is left for the scratch files of a sort", context,
        advice: "free some space and try again; nothing was changed")
    case EACCES, EPERM, EROFS, ELOOP:
      StoreError(
        .refusal(cause), summary, context, advice: "check the owner and the mode of the path")
    case EIO, ENXIO, ESTALE:
      StoreError(.inputOutput, summary, context, advice: "check the device and the system log")
    default: StoreError(.storage, summary, context, advice: "see the cause")
    }
  }
}
