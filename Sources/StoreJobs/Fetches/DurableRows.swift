public import DurableJobs
public import EntityModel
import EntityStore

/// The rows of a `DurableFetch` that has succeeded, in order. An iteration holds one page in
/// memory; each iteration reads the pages again.
public struct DurableRows: AsyncSequence, Sendable {
  public typealias Element = [Value]

  /// The names of the columns. Each row has one value for each.
  public let columns: [String]
  public let count: Int
  /// The number of pages. They are numbered from 0.
  public let pages: Int
  private let stored: JobOutputPages
  private let store: Store

  init(_ output: DurableFetch.Output, of job: JobID, in store: Store) {
    columns = output.columns
    count = output.rows
    pages = output.pages
    stored = JobOutputPages(job: job)
    self.store = store
  }

  /// Returns the rows of one page.
  ///
  /// - Throws: `DurableRowsError` if there is no such page, or the job was removed; `StoreError`.
  public func page(_ number: Int) throws -> [[Value]] {
    guard let rows = try store.read({ try stored.page(number, in: $0) }) else {
      throw DurableRowsError(job: stored.job, page: number)
    }
    return rows
  }

  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(rows: self) }

  public struct AsyncIterator: AsyncIteratorProtocol {
    fileprivate let rows: DurableRows
    private var page: ArraySlice<[Value]> = []
    private var next = 0

    fileprivate init(rows: DurableRows) { self.rows = rows }

    /// - Throws: The errors of `page`; `CancellationError`.
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

/// The error for a page of a durable fetch that does not exist.
public struct DurableRowsError: Error, Sendable, CustomStringConvertible {
  public let job: JobID
  public let page: Int

  public var description: String {
    "the rows of the job are no longer stored (job: \(job), page: \(page)); fetch them again"
  }
}

extension JobQueue {
  /// Returns the rows of a `DurableFetch`, or `nil` if the job does not exist.
  ///
  /// - Throws: `notFinished`; `failed`, `cancelled`, `poisoned` if it has no rows; `badPayload` if
  ///   the job is of another kind.
  public func rows(of id: JobID) throws -> DurableRows? {
    guard let status = try status(id) else { return nil }
    return DurableRows(try status.output(of: DurableFetch.self), of: id, in: store)
  }
}

extension JobHandle<DurableFetch> {
  /// Waits for the end of the job and returns its rows.
  ///
  /// - Throws: The errors of `value`.
  public var rows: DurableRows {
    get async throws { DurableRows(try await value, of: id, in: store) }
  }
}
