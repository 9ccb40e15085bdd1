import CMooringLMDB
import Glibc

/// What went wrong in the storage layer, and what to do about it.
///
/// Callers branch on `code`, never on text. An error out of a write means that nothing of that
/// write reached the store, and the environment stays usable unless `advice` says otherwise.
public struct LMDBError: Error, Sendable, CustomStringConvertible {
  public enum Code: Sendable {
    /// There is no store in the folder.
    case storeMissing
    /// The path names something that is not a folder.
    case notAFolder
    /// The system refuses access, or the environment is read-only.
    case permission
    /// No room on the device, in the quota or under the file size limit.
    case diskFull
    /// The device failed.
    case inputOutput
    /// The store has grown to the size of its map.
    case mapFull
    /// Every slot of the reader table is taken.
    case readersFull
    /// The file is an LMDB file, and cut or overwritten.
    case damaged
    /// The file is no LMDB file of format version 1.
    case notAStore
    /// Another process holds the writer lock.
    case busy
    /// A value of 4 GiB or more.
    case valueTooLarge
    /// A key that is empty, longer than 511 bytes, or out of order in an append.
    case keyInvalid
    /// More named trees than `Environment.Options.treesMax`.
    case tooManyTrees
    /// The map does not fit into the address space of the process.
    case addressSpace
    /// A call that the contract forbids.
    case programming
    /// What no other code says; the context has the text of the system.
    case other
  }

  public let code: Code
  /// Never interpolated, so that failures can be counted by it.
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

  /// One line: what, with which values, and what to do.
  public var description: String {
    let values = context.map { "\($0.0): \($0.1)" }.joined(separator: ", ")
    return "\(summary)\(values.isEmpty ? "" : " (\(values))"); \(advice)"
  }
}

extension LMDBError {
  /// The error for a result code of LMDB or, as LMDB hands them on, an `errno`.
  ///
  /// - Parameter doing: what was tried, for example "commit".
  static func lmdb(_ result: Int32, doing: StaticString, context: [(String, String)]) -> LMDBError {
    let context = context + [("while", "\(doing)")]
    return switch result {
    case MDB_MAP_FULL, MDB_MAP_RESIZED:
      LMDBError(
        .mapFull, "the store is as large as its map", context: context,
        advice: "open it with a larger map size; nothing was changed")
    case MDB_READERS_FULL:
      LMDBError(
        .readersFull, "every reader slot of the store is taken", context: context,
        advice: "end idle readers, or raise the number of readers")
    case MDB_CORRUPTED, MDB_PAGE_NOTFOUND, MDB_INVALID, MDB_CURSOR_FULL, MDB_PAGE_FULL:
      LMDBError(
        .damaged, "the store is damaged", context: context,
        advice: "run `mooring check`, then restore a backup")
    case MDB_VERSION_MISMATCH:
      LMDBError(
        .notAStore, "the file has another format version of LMDB", context: context,
        advice: "open it with the program that wrote it")
    case MDB_PANIC:
      LMDBError(
        .inputOutput, "an earlier write to the device failed", context: context,
        advice: "close the store and open it again")
    case MDB_DBS_FULL:
      LMDBError(
        .tooManyTrees, "the store has more trees than the environment allows", context: context,
        advice: "raise the number of trees when opening")
    case MDB_BAD_VALSIZE:
      LMDBError(
        .keyInvalid, "a key is empty or longer than 511 bytes", context: context,
        advice: "shorten the key")
    case MDB_TXN_FULL:
      LMDBError(
        .other, "the transaction holds too many changed pages", context: context,
        advice: "commit in smaller pieces")
    case MDB_BAD_TXN, MDB_BAD_RSLOT, MDB_BAD_DBI, MDB_INCOMPATIBLE, EINVAL:
      LMDBError(
        .programming, "the call does not fit the state of the transaction",
        context: context + [("cause", text(of: result))], advice: "report this as a bug")
    default: system(result, "the system refused an operation on the store", context: context)
    }
  }

  /// The error for an `errno`.
  static func system(
    _ number: Int32, _ summary: StaticString, context: [(String, String)]
  ) -> LMDBError {
    let context = context + [("cause", text(of: number))]
    return switch number {
    case ENOSPC, EDQUOT, EFBIG:
      LMDBError(
        .diskFull, "no room is left for the store", context: context,
        advice: "free some space and try again; nothing was changed")
    case EACCES, EPERM, EROFS:
      LMDBError(
        .permission, summary, context: context, advice: "check the owner and the mode of the path")
    case ENOENT:
      LMDBError(
        .storeMissing, "there is no store at this path", context: context,
        advice: "check the path, or create the store first")
    case ENOTDIR:
      LMDBError(
        .notAFolder, "the path is not a folder", context: context,
        advice: "name the folder that holds the store")
    case ENOMEM:
      LMDBError(
        .addressSpace, "the map of the store does not fit into memory addresses",
        context: context, advice: "open the store with a smaller map size, or raise `ulimit -v`")
    case EIO, EBADF, ESTALE, ENXIO:
      LMDBError(
        .inputOutput, summary, context: context, advice: "check the device and the system log")
    default:
      LMDBError(.other, summary, context: context, advice: "see the cause")
    }
  }

  static func text(of result: Int32) -> String {
    // SAFETY: mdb_strerror returns a constant string, or that of strerror, and never null.
    String(cString: mdb_strerror(result))
  }
}
