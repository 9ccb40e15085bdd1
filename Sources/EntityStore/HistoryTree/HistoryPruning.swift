import EntityModel
import Foundation
import LMDB

/// Drops the oldest transactions of the history beyond its retention. Each commit that adds to the
/// history drops a bounded number, so that the history does not grow beyond its bounds and no
/// commit waits long.
struct HistoryPruning {
  /// The maximum number of parts that a commit drops, in addition to twice as many as it has
  /// written, and to the rest of the last dropped transaction: transactions are dropped as a whole.
  private static let partsMax = 256

  private let history: HistoryTree
  private let retention: HistoryRetention
  private let now: Double
  private let newest: Int64

  init(_ history: HistoryTree, retention: HistoryRetention, now: Date, newest: Int64) {
    self.history = history
    self.retention = retention
    self.now = now.timeIntervalSinceReferenceDate
    self.newest = newest
  }

  /// Drops what the retention allows to drop.
  ///
  /// - Parameter written: The number of parts that this commit has added.
  /// - Parameter needed: Returns the number of the last transaction that no consumer needs, for the
  ///   number of the oldest one that is stored. Called only if something is to be dropped.
  func run(
    in transaction: TreeWriter, after written: Int, needed: (Int64) throws -> Int64
  ) throws {
    guard try isDue() else { return }
    let needed = try needed(history.first() ?? newest)
    let partsMax = HistoryPruning.partsMax + 2 * written
    for key in try outdated(needed: needed, partsMax: partsMax) {
      _ = try key.withBytes { try transaction.delete(history.tree, key: $0) }
    }
  }

  /// Returns true if the bounds are exceeded by some margin, so that many parts are dropped at a
  /// time: each time modifies the oldest page.
  private func isDue() throws -> Bool {
    if try bytes() > retention.bytes { return true }
    var cursor = try history.transaction.cursor(history.tree)
    guard let entry = try cursor.first() else { return false }
    let key = try history.key(entry)
    if key.sequence == newest { return false }
    // A transaction whose first part is missing is dropped.
    return key.part > 0 || time(of: entry, key) < now - retention.age * (17.0 / 16)
  }

  /// Returns the time of a transaction. An unreadable one counts as older than any other: it is
  /// dropped, so that it does not block writing.
  private func time(of entry: Cursor.Entry, _ key: HistoryKey) -> Double {
    history.header(of: entry, key)?.time ?? -.infinity
  }

  private func bytes() throws -> Int { try history.transaction.statistics(history.tree).bytes }

  /// Returns the parts of the oldest transactions that may be dropped, whole transactions only.
  private func outdated(needed: Int64, partsMax: Int) throws -> [HistoryKey] {
    var keys: [HistoryKey] = []
    // A sixteenth below the bound, to drop many parts at a time.
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
      // A node has a header of 8 bytes, and a pointer of 2 bytes in its page.
      let size = found.key.count + found.value.count + 10
      excess -= size
      excessBeyondConsumers -= size
      entry = try cursor.next()
    }
    return keys
  }
}
