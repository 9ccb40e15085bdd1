import EntityModel
import EntityStore

/// Reads the items of a source, a chunk at a time. Used by one task only.
final class BatchReader {
  private let next: () async throws -> BatchRow?
  private var isAtEnd = false
  private var failure: (any Error)?

  init<Items: Sequence>(_ items: Items, row: @escaping (Items.Element) -> BatchRow) {
    var iterator = items.makeIterator()
    next = { iterator.next().map(row) }
  }

  init<Items: AsyncSequence>(_ items: Items, row: @escaping (Items.Element) -> BatchRow) {
    var iterator = items.makeAsyncIterator()
    next = { try await iterator.next().map(row) }
  }

  /// Skips the items that an interrupted run has inserted.
  ///
  /// - Throws: `invalidRequest` if the source does not begin with the same items.
  func skip(to checkpoint: BatchCheckpoint) async throws {
    var digest: Int64 = 0
    for _ in 0..<checkpoint.done {
      guard let row = try await next() else { throw otherItems(checkpoint) }
      digest = TakenItem(row, after: digest).digest
    }
    if digest != checkpoint.digest { throw otherItems(checkpoint) }
  }

  /// Returns the items of the next chunk: those that arrive within the time bound and fit the
  /// bounds of rows and bytes.
  ///
  /// - Parameter checkpoint: The checkpoint at which the items begin.
  /// - Throws: The error of the source, after the items before it were returned.
  func take(
    from checkpoint: (done: Int64, digest: Int64), rowsMax: Int
  ) async throws -> TakenItems {
    var taken = TakenItems(first: checkpoint.done)
    var digest = checkpoint.digest
    if let failure { throw failure }
    var chunk = ChunkBudget(
      rowsMax: rowsMax, bytesMax: StoreLimits.batchBytesMax, duration: StoreLimits.batchGatheringMax
    )
    while !isAtEnd, chunk.hasRoom {
      let row: BatchRow?
      do {
        row = try await next()
      } catch {
        if taken.items.isEmpty { throw error }
        failure = error
        break
      }
      guard let row else {
        isAtEnd = true
        break
      }
      let item = TakenItem(row, after: digest)
      digest = item.digest
      chunk.add(rows: 1, bytes: item.bytes)
      taken.items.append(item)
    }
    taken.areLast = isAtEnd
    return taken
  }

  private func otherItems(_ checkpoint: BatchCheckpoint) -> StoreError {
    StoreError(
      .invalidRequest, "an interrupted batch of this name has taken other items",
      [("items taken", String(checkpoint.done))],
      advice: "run it again with the same items, give it another name, or start over (restart)")
  }
}

/// An item with the digest and the size that a checkpoint and a chunk need.
struct TakenItem: Sendable {
  let row: BatchRow
  /// The digest of all items up to and including this one.
  let digest: Int64
  let bytes: Int

  init(_ row: BatchRow, after digest: Int64) {
    self.row = row
    let identity = row.identity
    bytes = identity.count
    let before = withUnsafeBytes(of: digest.littleEndian) { Array($0) }
    self.digest = (before + identity).withUnsafeBytes { ContentHash.of($0) }
  }
}

/// Items that were taken from a source and are not committed yet.
struct TakenItems: Sendable {
  /// The number of items before the first of these.
  let first: Int64
  var items: [TakenItem] = []
  /// True if no items follow these.
  var areLast = false

  var end: Int64 { first + Int64(items.count) }

  subscript(number: Int64) -> TakenItem { items[Int(number - first)] }
}

extension StoreLimits {
  /// The largest total size in bytes of the values that a batch insert holds in memory; a single
  /// larger item is accepted.
  static let batchBytesMax = 4 << 20
  /// The time after the first item of a chunk at which a batch insert commits what it has.
  static let batchGatheringMax = Duration.milliseconds(500)
}
