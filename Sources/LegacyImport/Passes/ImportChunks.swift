import EntityStore

/// The loop by which an import writes.
///
/// A transaction holds the records of one chunk or several (see `CommitBudget`), their rows in the
/// ledger, rejects, and the checkpoint that covers them. A kill at any moment loses at most the
/// transaction under way.
final class ImportChunks {
  private let context: ImportContext
  private let write: ChunkedWrite<ImportCheckpoint>
  /// The checkpoint of the last commit.
  private(set) var checkpoint: ImportCheckpoint

  init(
    _ context: ImportContext, _ write: ChunkedWrite<ImportCheckpoint>,
    from checkpoint: ImportCheckpoint
  ) {
    self.context = context
    self.write = write
    self.checkpoint = checkpoint
  }

  /// Writes elements until there are no more.
  ///
  /// - Parameters:
  ///   - next: Returns further elements, and none at the end. Called between two transactions, when
  ///     fewer elements are left than fill a chunk. Its error ends the run once the elements before
  ///     it are committed.
  ///   - nextIfReady: As `next`, but called within a transaction that has written all elements:
  ///     returns `nil` if they would have to be waited for, or for an error, which `next` throws.
  ///   - size: The number of rows that an element counts for.
  ///   - makeWriter: Called at the beginning of each transaction.
  ///   - committed: Called after each commit with the rows of the transaction.
  ///   - body: Writes one element and moves the checkpoint past it.
  /// - Throws: `CancellationError` between two transactions; what the closures throw. The
  ///   transactions before it stay.
  func run<Element, Writer>(
    _ next: () throws -> [Element], nextIfReady: () -> [Element]? = { nil },
    size: (Element) -> Int = { _ in 1 },
    with makeWriter: (WriteTransaction) throws -> Writer, committed: (Int) -> Void = { _ in },
    _ body: (Writer, Element, inout ImportCheckpoint) throws -> Void
  ) throws {
    var pending: ArraySlice<Element> = []
    var isAtEnd = false
    var failure: (any Error)?
    while true {
      try context.checkCancellation()
      // Elements that a chunk had no time for are written with the next ones: each commit waits for
      // the disk.
      if !isAtEnd, pending.count < write.rowsMax {
        do {
          let elements = try next()
          isAtEnd = elements.isEmpty
          pending += elements
        } catch {
          failure = error
          isAtEnd = true
        }
      }
      if pending.isEmpty {
        if let failure { throw failure }
        return
      }
      var place = pending.startIndex
      var rows = 0
      checkpoint = try context.target.write { transaction in
        let writer = try makeWriter(transaction)
        return try write.writeChunk(from: checkpoint, in: transaction) { _, checkpoint, chunk in
          try body(writer, pending[place], &checkpoint)
          chunk.add(rows: size(pending[place]))
          rows = chunk.rows
          place += 1
          if place == pending.endIndex, !isAtEnd, let elements = nextIfReady() {
            isAtEnd = elements.isEmpty
            pending = elements[...]
            place = pending.startIndex
          }
          if place == pending.endIndex { chunk.end() }
          // The checkpoint stays in the store until the run has been verified.
          return true
        }.progress.position
      }
      pending = pending[place...]
      committed(rows)
    }
  }

  /// Writes the elements of an array, as `run` does.
  func run<Element, Writer>(
    over elements: [Element], with makeWriter: (WriteTransaction) throws -> Writer,
    _ body: (Writer, Element, inout ImportCheckpoint) throws -> Void
  ) throws {
    var rest = elements
    try run(
      {
        defer { rest = [] }
        return rest
      }, with: makeWriter, body)
  }
}

/// The saved position of a run, committed with each chunk.
///
/// The names of its members and cases are stored as JSON: an import that an earlier program left
/// unfinished resumes.
struct ImportCheckpoint: Codable, Sendable {
  enum Stage: Codable, Hashable, Sendable {
    /// A table by its number in the mapping, and the last row of it that has been written.
    case objects(table: Int, after: RowPosition?)
    /// A relationship by its number. No position is saved: links are read again from the first one.
    case links(Int, after: RowPosition?)
  }

  let run: Int64
  /// The fingerprint of the file and the checksum of the mapping. With another file or mapping a
  /// run starts from the beginning.
  let fingerprint: String
  let mapping: String
  var stage = Stage.objects(table: 0, after: nil)
  /// The written records of each entity.
  var counts: WrittenRecords
  /// The number of records that have been pruned; `nil` for none.
  var pruned: Int64?
}

/// The counts of each entity by its number in the mapping.
///
/// Every chunk saves those of all entities, of which there may be thousands. So they are stored as
/// text: `new changed unchanged deleted`, without zeros at the end, and `;` between the entities.
/// An earlier version has stored a list of objects.
struct WrittenRecords: Codable, Sendable {
  var all: [WriteCounts]

  init(_ all: [WriteCounts]) { self.all = all }

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    do {
      self.init(try container.decode([WriteCounts].self))
    } catch DecodingError.typeMismatch {
      let text = try container.decode(String.self)
      guard let counts = Self.counts(in: text) else {
        throw DecodingError.dataCorruptedError(
          in: container, debugDescription: "the counts are unreadable")
      }
      self.init(counts)
    }
  }

  func encode(to encoder: any Encoder) throws {
    var text = ""
    for (number, counts) in all.enumerated() {
      if number > 0 { text += ";" }
      var numbers = [counts.new, counts.changed, counts.unchanged, counts.deleted][...]
      while numbers.last == 0 { numbers.removeLast() }
      text += numbers.map(String.init).joined(separator: " ")
    }
    var container = encoder.singleValueContainer()
    try container.encode(text)
  }

  private static func counts(in text: String) -> [WriteCounts]? {
    var all = [WriteCounts()]
    var numbers: [Int64] = [0]
    func finish() -> Bool {
      guard numbers.count <= 4 else { return false }
      let padded = numbers + Array(repeating: 0, count: 4 - numbers.count)
      all[all.count - 1] = WriteCounts(
        new: padded[0], changed: padded[1], unchanged: padded[2], deleted: padded[3])
      numbers = [0]
      return true
    }
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: ";"):
        guard finish() else { return nil }
        all.append(WriteCounts())
      case UInt8(ascii: " "): numbers.append(0)
      case UInt8(ascii: "0")...UInt8(ascii: "9"):
        let last = numbers.count - 1
        guard numbers[last] < 100_000_000_000_000_000 else { return nil }
        numbers[last] = numbers[last] * 10 + Int64(byte - UInt8(ascii: "0"))
      default: return nil
      }
    }
    return finish() ? all : nil
  }
}
