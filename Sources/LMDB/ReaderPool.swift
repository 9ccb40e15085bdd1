import CMooringLMDB
import SystemSupport

/// Idle read transactions. They are reset, each keeps its slot in the reader table, and they can be
/// renewed.
///
/// Renewing one takes no lock of LMDB and allocates nothing in it.
final class ReaderPool: Sendable {
  /// The greatest number of idle transactions. An idle slot is cheap, but other processes use the
  /// same table.
  private static let idleMax = 64

  // @unchecked: the pointer is an idle transaction, which is not used until it is removed from the
  // pool.
  struct Idle: @unchecked Sendable { let raw: OpaquePointer }
  private let idle = Locked<[Idle]>([])

  /// Returns a reset transaction, or begins one. If the reader table is full, slots of dead
  /// processes are freed once.
  func takeOrBegin(in environment: Environment) throws -> OpaquePointer {
    if let pooled = idle.withLock({ $0.popLast() }) { return pooled.raw }
    var handle: OpaquePointer?
    // SAFETY: MDB_NOTLS ties the slot to the transaction and not to this thread.
    var result = mdb_txn_begin(environment.raw, nil, UInt32(MDB_RDONLY), &handle)
    if result == MDB_READERS_FULL {
      mdb_reader_check(environment.raw, nil)
      result = mdb_txn_begin(environment.raw, nil, UInt32(MDB_RDONLY), &handle)
    }
    guard result == MDB_SUCCESS, let handle else {
      throw environment.failure(result, doing: "begin of a read transaction")
    }
    mdb_txn_reset(handle)
    return handle
  }

  /// Returns a reset transaction to the pool.
  func put(_ handle: OpaquePointer) {
    let item = Idle(raw: handle)
    let kept = idle.withLock { idle in
      guard idle.count < Self.idleMax else { return false }
      idle.append(item)
      return true
    }
    if !kept { mdb_txn_abort(handle) }
  }

  func abortAll() {
    let all = idle.withLock { idle in
      defer { idle = [] }
      return idle
    }
    for item in all { mdb_txn_abort(item.raw) }
  }
}
