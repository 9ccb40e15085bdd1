import CMooringLMDB
import Glibc
import SystemSupport

extension StorageError {
  /// Returns the error for a result code of LMDB, or for an `errno`, which LMDB passes on.
  ///
  /// - Parameter doing: The operation, for example "commit".
  static func lmdb(_ result: Int32, doing: StaticString, context: [(String, String)])
    -> StorageError
  {
    let context = context + [("while", "\(doing)")]
    return switch result {
    case MDB_MAP_FULL, MDB_MAP_RESIZED:
      StorageError(
        .mapFull, "the store is as large as its map", context: context,
        advice: "open it with a larger map size; nothing was changed")
    case MDB_READERS_FULL:
      StorageError(
        .readersFull, "every reader slot of the store is taken", context: context,
        advice: "end idle readers, or raise the number of readers")
    case MDB_CORRUPTED, MDB_PAGE_NOTFOUND, MDB_INVALID, MDB_CURSOR_FULL, MDB_PAGE_FULL:
      StorageError(
        .damaged, "the store is damaged", context: context,
        advice: "run `mooring check`, then restore a backup")
    case MDB_VERSION_MISMATCH:
      StorageError(
        .notAStore, "the file has another format version of LMDB", context: context,
        advice: "open it with the program that wrote it")
    case MDB_PANIC:
      StorageError(
        .inputOutput, "an earlier write to the device failed", context: context,
        advice: "close the store and open it again")
    case MDB_DBS_FULL:
      StorageError(
        .tooManyTrees, "the store has more trees than when it was opened, and no room for them",
        context: context,
        advice: "open the store again")
    case MDB_BAD_VALSIZE:
      StorageError(
        .keyInvalid, "a key is empty or longer than 511 bytes", context: context,
        advice: "shorten the key")
    case MDB_TXN_FULL:
      StorageError(
        .other, "the transaction holds too many changed pages", context: context,
        advice: "commit in smaller pieces")
    case MDB_BAD_TXN, MDB_BAD_RSLOT, MDB_BAD_DBI, MDB_INCOMPATIBLE, EINVAL:
      StorageError(
        .programming, "the call does not fit the state of the transaction",
        context: context + [("cause", text(of: result))], advice: "report this as a bug")
    default:
      result > 0
        ? system(result, "the system refused an operation on the store", context: context)
        : StorageError(
          .other, "the system refused an operation on the store",
          context: context + [("cause", text(of: result))], advice: "see the cause")
    }
  }

  static func text(of result: Int32) -> String {
    // SAFETY: mdb_strerror returns a constant string or that of strerror, and never null.
    String(cString: mdb_strerror(result))
  }
}
