import Glibc

/// A failure of LMDB or of the files that it uses, with advice for the user.
///
/// Callers distinguish errors by `code`, never by text. After an error of a write nothing of that
/// write is in the store, and the environment stays usable unless `advice` says otherwise.
public struct StorageError: Error, Sendable, CustomStringConvertible {
  public enum Code: Sendable {
    /// There is no store in the folder.
    case storeMissing
    /// The path is that of something other than a folder.
    case notAFolder
    /// The system denies access.
    case permission
    /// The environment is open for reading only, or its file system is mounted read-only.
    case readOnly
    /// The device, the quota or the file size limit leaves no room.
    case diskFull
    /// The device failed.
    case inputOutput
    /// The store has grown to the size of its map.
    case mapFull
    /// Every slot of the reader table is taken.
    case readersFull
    /// The file is an LMDB file that was truncated or overwritten.
    case damaged
    /// The file is not an LMDB file of format version 1.
    case notAStore
    /// Another process holds the writer lock.
    case busy
    /// The value has 4 GiB or more.
    case valueTooLarge
    /// The key is empty, longer than 511 bytes, or out of order in an append.
    case keyInvalid
    /// There are more named trees than `Environment.Options.treesMax`.
    case tooManyTrees
    /// The map does not fit into the address space of the process.
    case addressSpace
    /// The writers of the store take turns on several machines, and the commit log was not given,
    /// or is none that this program can use.
    case needsCommitLog
    /// The commit log cannot be reached.
    case unreachable
    /// The store has commits that its log does not have: the log has lost them, or the store is a
    /// copy that was written to.
    case diverged
    /// The commit is in the log, and becomes visible here later. It must not be repeated.
    case notHereYet
    /// It is not known whether the commit is in the log.
    case unknownOutcome
    /// The call violates the contract of the method.
    case programming
    /// Any other failure; the context contains the text of the system.
    case other
  }

  public let code: Code
  /// The failure in constant words, without values, so that failures can be counted by it.
  public let summary: StaticString
  public let context: [(String, String)]
  public let advice: StaticString

  public init(
    _ code: Code, _ summary: StaticString, context: [(String, String)] = [], advice: StaticString
  ) {
    self.code = code
    self.summary = summary
    self.context = context
    self.advice = advice
  }

  /// The error in one line: the summary, the context, and the advice.
  public var description: String {
    let values = context.map { "\($0.0): \($0.1)" }.joined(separator: ", ")
    return "\(summary)\(values.isEmpty ? "" : " (\(values))"); \(advice)"
  }
}

extension StorageError {
  /// Returns the error for an `errno`.
  package static func system(
    _ number: Int32, _ summary: StaticString, context: [(String, String)]
  ) -> StorageError {
    system(SystemError(number), summary, context: context)
  }

  /// Returns the error for a failure of a system call.
  package static func system(
    _ error: SystemError, _ summary: StaticString, context: [(String, String)]
  ) -> StorageError {
    let context = context + [("cause", error.text)]
    return switch error.number {
    case ENOSPC, EDQUOT, EFBIG:
      StorageError(
        .diskFull, "no room is left for the store", context: context,
        advice: "free some space and try again; nothing was changed")
    case EACCES, EPERM, EROFS:
      StorageError(
        error.number == EROFS ? .readOnly : .permission, summary, context: context,
        advice: "check the owner and the mode of the path")
    case ENOENT:
      StorageError(
        .storeMissing, "there is no store at this path", context: context,
        advice: "check the path, or create the store first")
    case ENOTDIR:
      StorageError(
        .notAFolder, "the path is not a folder", context: context,
        advice: "name the folder that holds the store")
    case ENOMEM:
      StorageError(
        .addressSpace, "the map of the store does not fit into memory addresses",
        context: context, advice: "open the store with a smaller map size, or raise `ulimit -v`")
    case EIO, EBADF, ESTALE, ENXIO:
      StorageError(
        .inputOutput, summary, context: context, advice: "check the device and the system log")
    default:
      StorageError(.other, summary, context: context, advice: "see the cause")
    }
  }
}
