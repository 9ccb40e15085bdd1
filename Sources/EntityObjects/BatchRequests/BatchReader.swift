import EntityModel
import EntityStore
import Foundation

/// Takes items from a source, never more than a chunk of them ahead of what is committed. Used by
/// one task.
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

  /// Passes over what an interrupted run has taken.
  ///
  /// - Throws: `invalidRequest` if the source does not begin with the same items.
  func skip(to frontier: BatchFrontier) async throws {
    var digest: Int64 = 0
    for _ in 0..<frontier.done {
      guard let row = try await next() else { throw otherItems(frontier) }
      digest = TakenItem(row, after: digest).digest
    }
    if digest != frontier.digest { throw otherItems(frontier) }
  }

  /// The items of the next chunk: as many as come in a while and fit the bounds.
  ///
  /// - Parameter frontier: Where they begin.
  /// - Throws: What the source throws, when what it gave before has been taken.
  func take(
    from frontier: (done: Int64, digest: Int64), rowsMax: Int
  ) async throws -> TakenItems {
    var taken = TakenItems(first: frontier.done)
    var digest = frontier.digest
    var bytes = 0
    let deadline = ContinuousClock.now + Limits.batchGatheringMax
    if let failure { throw failure }
    while !isAtEnd, taken.items.count < rowsMax, bytes < Limits.batchBytesMax {
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
      bytes += item.bytes
      taken.items.append(item)
      if ContinuousClock.now > deadline { break }
    }
    taken.areLast = isAtEnd
    return taken
  }

  private func otherItems(_ frontier: BatchFrontier) -> StoreError {
    StoreError(
      .invalidRequest, "an interrupted batch of this name has taken other items",
      [("items taken", String(frontier.done))],
      advice: "run it again with the same items, give it another name, or start over (restart)")
  }
}

/// An item with what it takes to know it again.
struct TakenItem: Sendable {
  let row: BatchRow
  /// Of all items up to this one.
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
  /// How many came before.
  let first: Int64
  var items: [TakenItem] = []
  /// Whether no more come after these.
  var areLast = false

  init(first: Int64) { self.first = first }

  var end: Int64 { first + Int64(items.count) }

  subscript(number: Int64) -> TakenItem { items[Int(number - first)] }
}

extension Limits {
  /// Values of the items that a batch insert holds in memory; one larger item alone goes beyond.
  static let batchBytesMax = 4 << 20
  /// A batch insert commits what it has when an item comes so long after the first of its chunk.
  static let batchGatheringMax = Duration.milliseconds(500)
}
