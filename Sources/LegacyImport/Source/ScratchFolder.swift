import Glibc
import SystemSupport

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
