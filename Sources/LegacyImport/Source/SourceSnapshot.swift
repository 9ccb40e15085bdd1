import Foundation
import Glibc
import SystemSupport

/// A private copy of a legacy file with its `-wal` and its `-journal`, removed at the end of its
/// life.
///
/// The source is opened for reading only and stays the same, bytes and folder: no lock is taken and
/// no `-shm` is created. Another program may write to it. This process must not have it open
/// through SQLite: closing any descriptor of a file drops all locks that the process has on it.
package final class SourceSnapshot: Sendable {
  /// The path of the source, with symbolic links resolved: other files beside it are found from
  /// here.
  package let source: String
  /// The path of the copy of the main file.
  package let copy: String
  package let report: SourceReport
  /// The fault that only `allowsDamage` accepts.
  let fault: SourceFault?
  let scratch: ScratchFolder

  private init(report: SourceReport, fault: SourceFault?, copy: String, scratch: ScratchFolder) {
    source = report.source
    self.copy = copy
    self.report = report
    self.fault = fault
    self.scratch = scratch
  }

  /// Copies the file with its `-wal` and `-journal` as they were at one instant.
  ///
  /// - Parameter scratchFolder: Where the copy goes, in a folder of its own; `$TMPDIR` without it.
  /// - Throws: ``ImportError``: `missing`, `unreadable`, `notADatabase`, `encrypted`, `noSpace`,
  ///   and `busy` if the file changes faster than it is copied; `CancellationError`. A file that is
  ///   only damaged or truncated is copied; opening the copy throws.
  package static func take(
    of path: String, in scratchFolder: String? = nil,
    isCancelled: @escaping @Sendable () -> Bool = { false }
  ) throws -> SourceSnapshot {
    let source = try resolve(path)
    try FileLikeness.check(source)
    let scratch = try ScratchFolder.ofImport(in: scratchFolder)
    let copies = try SourceCopier(
      source: source, folder: scratch.path, isCancelled: isCancelled
    ).copyUntilStable()
    var examination = SourceExamination(source: source, copies: copies)
    let (report, fault) = try examination.examine()
    return SourceSnapshot(report: report, fault: fault, copy: copies.main.path, scratch: scratch)
  }

  /// Resolves links in a path of the operator, as SQLite does: the `-wal` is beside the
  /// destination.
  private static func resolve(_ path: String) throws(ImportError) -> String {
    guard let resolved = realpath(path, nil) else {
      let code = errno
      throw ImportError(
        code == ENOENT ? .missing : .unreadable,
        code == ENOENT ? "there is no such file" : "the file cannot be found",
        [("path", path)] + (code == ENOENT ? [] : [("system", String(cString: strerror(code)))]))
    }
    defer { free(resolved) }
    return String(cString: resolved)
  }
}

extension ScratchFolder {
  /// Creates a private folder that is removed with its owner.
  ///
  /// - Parameter parent: `$TMPDIR` without it, and `/var/tmp` without that.
  static func ofImport(in parent: String?) throws(ImportError) -> ScratchFolder {
    do {
      return try create(prefix: "mooring-import-", in: parent)
    } catch {
      throw ImportError(
        error.error.number == ENOSPC ? .noSpace : .unreadable,
        "no folder can be made for the copy of the file",
        [("folder", error.path), ("system", error.error.text)],
        advice: "set TMPDIR to a folder that you may write in")
    }
  }
}
