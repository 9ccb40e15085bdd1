import DurableJobs
import Foundation
import Synchronization

/// A file that is written under a temporary name and renamed when it is complete.
///
/// All calls block. One thread at a time may use it.
final class ExportFile: Sendable {
  private let path: String
  private let partial: String
  private let descriptor: Int32

  /// Creates the temporary file. One that an attempt of the same job has left is overwritten.
  ///
  /// - Throws: `ExportFileError`.
  init(_ path: String, job: JobID) throws(ExportFileError) {
    guard path.hasPrefix("/"), !path.utf8.contains(0) else {
      throw ExportFileError("this is no path from the root", path, systemError: EINVAL)
    }
    var isFolder: ObjCBool = false
    if FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder.boolValue {
      throw ExportFileError("a folder is in place of the file", path, systemError: EISDIR)
    }
    self.path = path
    partial = "\(path).job-\(job).partial"
    descriptor = open(partial, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      throw ExportFileError("the file cannot be made", partial, systemError: errno)
    }
  }

  deinit { close(descriptor) }

  /// - Returns: The number of bytes of the text.
  func write(_ text: String) throws(ExportFileError) -> Int {
    let bytes = Array(text.utf8)
    var rest = bytes[...]
    while !rest.isEmpty {
      // SAFETY: the pointer and count are those of `rest` and are used only inside the closure.
      let count = rest.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
      if count >= 0 {
        rest = rest.dropFirst(count)
      } else if errno != EINTR {
        throw ExportFileError("the file cannot be written", partial, systemError: errno)
      }
    }
    return bytes.count
  }

  /// Flushes the file and renames it to its path.
  func finish() throws(ExportFileError) {
    guard fsync(descriptor) == 0 else {
      throw ExportFileError("the file cannot be flushed", partial, systemError: errno)
    }
    guard rename(partial, path) == 0 else {
      throw ExportFileError(
        "the file cannot be renamed to its final name", path, systemError: errno)
    }
  }

  /// Removes the temporary file.
  func remove() throws(ExportFileError) {
    guard unlink(partial) == 0 || errno == ENOENT else {
      throw ExportFileError("the part of a file cannot be removed", partial, systemError: errno)
    }
  }
}

/// The error of an export that cannot be written.
struct ExportFileError: Error, CustomStringConvertible {
  let description: String
  /// True if the path is wrong, so that another attempt would fail, too.
  let isOfPath: Bool

  init(_ summary: String, _ path: String, systemError: Int32) {
    // SAFETY: strerror returns a NUL-terminated string, which is copied at once.
    let reason = String(cString: strerror(systemError))
    description = "\(summary) (path: \(path), reason: \(reason)); give another path, or make room"
    isOfPath =
      [EINVAL, EISDIR, ENOENT, ENOTDIR, EACCES, ELOOP, EROFS, ENAMETOOLONG].contains(systemError)
  }
}
