public import DurableJobs
public import EntityModel
import EntityStore

/// The rows of a `DurableFetch` that has succeeded, in order, read page by page: memory is bounded by
/// one page. Each iteration reads them anew.
public struct DurableRows: AsyncSequence, Sendable {
  public typealias Element = [Value]

  /// The names of the columns; each row has a value for each.
  public let columns: [String]
  public let count: Int
  /// Pages, numbered from 0.
  public let pages: Int
  private let kept: KeptRows
  private let store: Store

  init(_ output: DurableFetch.Output, of job: JobID, in store: Store) {
    columns = output.columns
    count = output.rows
    pages = output.pages
    kept = KeptRows(job: job)
    self.store = store
  }

  /// The rows of one page.
  ///
  /// - Throws: `DurableRowsError` if there is no such page, or the job was removed meanwhile;
  ///   `StoreError`.
  public func page(_ number: Int) throws -> [[Value]] {
    guard let rows = try store.read({ try kept.page(number, in: $0) }) else {
      throw DurableRowsError(job: kept.job, page: number)
    }
    return rows
  }

  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(rows: self) }

  public struct AsyncIterator: AsyncIteratorProtocol {
    fileprivate let rows: DurableRows
    private var page: ArraySlice<[Value]> = []
    private var next = 0

    fileprivate init(rows: DurableRows) { self.rows = rows }

    /// - Throws: As `page`; `CancellationError`.
    public mutating func next() async throws -> [Value]? {
      while page.isEmpty, next < rows.pages {
        try Task.checkCancellation()
        page = try rows.page(next)[...]
        next += 1
      }
      return page.popFirst()
    }
  }
}

/// Rows of a durable fetch that are not there.
public struct DurableRowsError: Error, Sendable, CustomStringConvertible {
  public let job: JobID
  public let page: Int

  public var description: String {
    "the rows of the job are not kept any more (job: \(job), page: \(page)); fetch them again"
  }
}

extension JobQueue {
  /// The rows of a `DurableFetch`.
  ///
  /// - Returns: `nil` if there is no such job, or none any more.
  /// - Throws: `notFinished`; `failed`, `cancelled`, `poisoned` if it has none; `badPayload` if the job
  ///   is of another kind.
  public func rows(of id: JobID) throws -> DurableRows? {
    guard let status = try status(id) else { return nil }
    return DurableRows(try status.output(of: DurableFetch.self), of: id, in: store)
  }
}

extension JobHandle<DurableFetch> {
  /// The rows; waits for the end of the job.
  ///
  /// - Throws: As `value`.
  public var rows: DurableRows {
    get async throws { DurableRows(try await value, of: id, in: store) }
  }
}
