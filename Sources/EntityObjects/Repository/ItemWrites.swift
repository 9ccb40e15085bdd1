import EntityModel
import EntityStore

/// A write that is repeated for each of many items.
struct ItemWrites<Input: Sendable, Output: Sendable>: Sendable {
  let store: Store
  let author: String?
  /// Writes one item and returns its identity; an error leaves the store unchanged.
  let write: @Sendable (WriteTransaction, Input) throws -> ObjectID
  /// Reads the result for the caller from a written item.
  let read: @Sendable (WriteTransaction, ObjectID) throws -> Output
  /// The limits of a commit in items and time; it ends at the first that is reached.
  var itemsMax = 1_000
  var duration = StoreLimits.chunkDuration

  /// Writes all of the items in one commit, or none.
  ///
  /// - Throws: The error of the first refused item.
  func runAtomically(_ items: [Input]) async throws -> [Output] {
    try await store.write(author: author) { transaction in
      try items.enumerated().map { index, item in
        do {
          return try read(transaction, try write(transaction, item))
        } catch let error as StoreError {
          throw error.about("item", String(index))
        }
      }
    }
  }

  /// Writes each item independently, in commits of bounded size. When a commit fails or the task is
  /// cancelled, the items of that commit and all later ones count as failed.
  func run(_ items: [Input]) async -> ItemResults<Input, Output> {
    var outcome = ItemResults<Input, Output>()
    var unreadable: [Int: any Error] = [:]
    var next = 0
    while next < items.count {
      do {
        try Task.checkCancellation()
        for result in try await commitChunk(of: items, from: next, leavingOut: unreadable) {
          outcome.add(result, of: items[next], at: next)
          next += 1
        }
      } catch let item as UnreadableItem {
        unreadable[item.index] = item.error
      } catch {
        for index in next..<items.count {
          outcome.add(.failure(error), of: items[index], at: index)
        }
        next = items.count
      }
    }
    return outcome
  }

  /// The error for an item that was written but cannot be read back. Its commit is repeated without
  /// it.
  private struct UnreadableItem: Error {
    let index: Int
    let error: any Error
  }

  /// Writes the next items in one commit.
  ///
  /// - Returns: The results of those items, at least one.
  private func commitChunk(
    of items: [Input], from start: Int, leavingOut unreadable: [Int: any Error]
  ) async throws -> [Result<Output, any Error>] {
    try await store.write(author: author) { transaction in
      var chunk = ChunkBudget(rowsMax: itemsMax, duration: duration)
      var results: [Result<Output, any Error>] = []
      for index in start..<items.count {
        if let error = unreadable[index] {
          results.append(.failure(error))
        } else {
          results.append(try result(of: items[index], index, in: transaction))
        }
        chunk.add(rows: 1)
        if !chunk.hasRoom { break }
      }
      return results
    }
  }

  private func result(
    of item: Input, _ index: Int, in transaction: WriteTransaction
  ) throws -> Result<Output, any Error> {
    let id: ObjectID
    do {
      id = try write(transaction, item)
    } catch let error where error.endsTransaction {
      // The transaction itself has failed.
      throw error
    } catch {
      return .failure(error)
    }
    do {
      return .success(try read(transaction, id))
    } catch let error where error.endsTransaction {
      throw error
    } catch {
      throw UnreadableItem(index: index, error: error)
    }
  }
}

/// The results of a write or read of many items.
public struct ItemResults<Input: Sendable, Output: Sendable>: Sendable {
  /// An item that was refused, and has changed nothing.
  public struct Failure: Sendable {
    /// The item's place among those that were passed, from 0.
    public let index: Int
    public let item: Input
    public let error: any Error
  }

  /// The results of the items that were not refused, in the order in which they were passed.
  public private(set) var success: [Output] = []
  /// The refused items, in the order in which they were passed.
  public private(set) var failed: [Failure] = []

  mutating func add(_ result: Result<Output, any Error>, of item: Input, at index: Int) {
    switch result {
    case .success(let output): success.append(output)
    case .failure(let error): failed.append(Failure(index: index, item: item, error: error))
    }
  }
}
