import EntityModel
import Foundation

/// The saved position of resumable work: a sync run, an import, a batch, a migration step.
///
/// It is stored under the name of the work, in the transaction that writes the rows it covers. A
/// process that is killed loses at most the chunk after it, and the next run continues from there.
///
/// The position is stored as JSON, so the names of its members are part of the file format: work
/// that an earlier version of the program has left unfinished resumes.
public struct Checkpoint<Position: Codable & Sendable>: Sendable {
  /// The name of the work, unique among the unfinished work of a store.
  public let name: String

  public init(name: String) { self.name = name }

  /// A position with its counters.
  public struct Progress: Sendable {
    public internal(set) var position: Position
    public internal(set) var rows: Int64
    public internal(set) var chunks: Int64
  }

  /// Returns the committed progress of interrupted work.
  ///
  /// - Returns: `nil` if there is none.
  /// - Throws: `damaged` if the stored position is not of this type; `remove` deletes it.
  public func load(in transaction: ReadTransaction) throws -> Progress? {
    guard let record = try transaction.get(Self.entityName, by: ["name": .string(name)]),
      case .data(let data) = try record["frontier"], case .int64(let rows) = try record["rows"],
      case .int64(let chunks) = try record["chunks"]
    else { return nil }
    do {
      let position = try JSONDecoder().decode(Position.self, from: data)
      return Progress(position: position, rows: rows, chunks: chunks)
    } catch {
      throw StoreError(
        .damaged, "the checkpoint of interrupted work cannot be read", [("work", name)],
        advice: "start it again from the beginning")
    }
  }

  /// Stores the progress in the transaction, so that it is committed together with the rows.
  ///
  /// - Parameter rows: The number of rows so far; for information, as is `chunks`.
  public func save(
    _ position: Position, rows: Int64 = 0, chunks: Int64 = 0, in transaction: WriteTransaction
  ) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    try transaction.upsert(
      Self.entityName,
      [
        "name": .string(name), "frontier": .data(try encoder.encode(position)),
        "rows": .int64(rows), "chunks": .int64(chunks),
        "updatedAt": .date(transaction.now),
      ], by: ["name"])
  }

  /// Removes the progress from the store. Does nothing if there is none.
  public func remove(in transaction: WriteTransaction) throws {
    if let id = try transaction.objectID(Self.entityName, by: ["name": .string(name)]) {
      try transaction.delete(id)
    }
  }

  package static var entityName: String { "_ChunkedWrite" }
}
