import EntityModel
import Foundation
import LMDB

/// Drops the oldest transactions of the history beyond its retention, a bounded number with each
/// commit that adds to it, so that it never grows for longer than its bounds allow and no commit
/// waits for it.
struct HistoryPruning {
  /// Parts that a commit drops at most, beside twice as many as it has written, and beside the rest
  /// of the last transaction that goes: none is dropped by half.
  private static let partsMax = 256

  private let history: HistoryTree
  private let retention: HistoryRetention
  private let now: Double
  private let newest: Int64

  static func run(
    in transaction: WriteTransaction, after written: Int, newest: Int64
  ) throws {
    guard let history = transaction.historyTree else { return }
    let pruning = HistoryPruning(
      history: history, retention: transaction.catalog.schema.historyRetention,
      now: transaction.now.timeIntervalSinceReferenceDate, newest: newest)
    guard try pruning.isDue() else { return }
    let needed = try transaction.neededSequence(oldest: history.first() ?? newest)
    for key in try pruning.outdated(needed: needed, partsMax: partsMax + 2 * written) {
      _ = try key.withBytes { try transaction.writing.delete(history.tree, key: $0) }
    }
  }

  /// Some slack, so that what drops is dropped many at a time: each time dirties the oldest page.
  private func isDue() throws -> Bool {
    if try bytes() > retention.bytes { return true }
    var cursor = try history.transaction.cursor(history.tree)
    guard let entry = try cursor.first() else { return false }
    let key = try history.key(entry)
    if key.sequence == newest { return false }
    // What begins amid a transaction has lost its beginning, and goes.
    return key.part > 0 || time(of: entry, key) < now - retention.age * (17.0 / 16)
  }

  /// When a transaction was written. One that is unreadable is older than any other: it goes, so
  /// that it keeps nobody from writing.
  private func time(of entry: Cursor.Entry, _ key: HistoryKey) -> Double {
    history.header(of: entry, key)?.time ?? -.infinity
  }

  private func bytes() throws -> Int { try history.transaction.statistics(history.tree).bytes }

  /// The parts of the oldest transactions that may go, whole transactions only.
  private func outdated(needed: Int64, partsMax: Int) throws -> [HistoryKey] {
    var keys: [HistoryKey] = []
    // A sixteenth below the bound, for the same reason.
    let bytes = try bytes()
    var excess = bytes - retention.bytes / 16 * 15
    var excessBeyondConsumers = bytes - retention.consumerBytes / 16 * 15
    var cursor = try history.transaction.cursor(history.tree)
    var entry = try cursor.first()
    while let found = entry {
      let key = try history.key(found)
      if key.sequence >= newest { break }
      if key.part == 0 {
        if keys.count >= partsMax { break }
        let time = time(of: found, key)
        let goes =
          key.sequence <= needed
          ? excess > 0 || time < now - retention.age
          : excessBeyondConsumers > 0 || time < now - retention.consumerAge
        if !goes { break }
      }
      keys.append(key)
      // A node has a header of 8 bytes and a place of 2 in its page.
      let size = found.key.count + found.value.count + 10
      excess -= size
      excessBeyondConsumers -= size
      entry = try cursor.next()
    }
    return keys
  }
}

extension WriteTransaction {
  /// The last transaction that no consumer needs any more.
  ///
  /// - Parameter oldest: The oldest that is kept. Who has not read the one before it has expired
  ///   and needs nothing.
  fileprivate func neededSequence(oldest: Int64) throws -> Int64 {
    var needed = Int64.max
    guard let entity = catalog.entities[WriteTransaction.consumerEntity] else { return needed }
    let position = try entity.position(of: "sequence")
    try eachRow(of: entity) { row in
      if let sequence = row.int64(position), sequence >= oldest - 1 {
        needed = min(needed, sequence)
      }
      return true
    }
    return needed
  }
}
