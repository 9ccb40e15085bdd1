public import EntityModel

extension Store {
  /// Begins to fetch the records of a request, and returns immediately.
  ///
  /// The returned fetch reports the errors of the request.
  public func fetchAsynchronously(
    _ request: FetchRequest, options: AsynchronousFetchOptions = .init()
  ) -> AsynchronousFetch<[Record]> {
    fetchAsynchronously(RecordSource(request), options)
  }

  /// Begins to fetch the values of a descriptor, and returns immediately.
  ///
  /// - Throws: `invalidRequest` for a sort that names no attribute. The returned fetch reports
  ///   other errors.
  public func fetchAsynchronously<T: Entity>(
    _ descriptor: FetchDescriptor<T>, options: AsynchronousFetchOptions = .init()
  ) throws -> AsynchronousFetch<[T]> {
    fetchAsynchronously(try RecordSource(descriptor), options)
  }

  private func fetchAsynchronously<T>(
    _ source: RecordSource<T>, _ options: AsynchronousFetchOptions
  ) -> AsynchronousFetch<[T]> {
    AsynchronousFetch(self, options) { transaction, report in
      var values: [T] = []
      try source.forEach(in: transaction, begin: report.begin) { value in
        values.append(value)
        report.add()
      }
      try source.prefetch(&values, transaction)
      report.end()
      return values
    }
  }

  /// Begins to fetch the columns of records or of groups, and returns immediately.
  public func fetchRowsAsynchronously(
    _ request: FetchRequest, options: AsynchronousFetchOptions = .init()
  ) -> AsynchronousFetch<[ResultRow]> {
    AsynchronousFetch(self, options) { transaction, report in
      var rows: [ResultRow] = []
      try transaction.forEachRow(request) { row in
        rows.append(row)
        report.add()
        return true
      }
      report.end()
      return rows
    }
  }

  /// Runs a closure on one consistent snapshot, on the store's own threads: for counts, aggregates,
  /// several fetches of one commit. Blocks no thread of the caller.
  ///
  /// The closure must not keep the transaction. When the task is cancelled, or when the snapshot
  /// has lived for as long as the options allow, the next read of a record or an entry in the
  /// closure throws an error.
  ///
  /// - Throws: The closure's error; `CancellationError`, `snapshotExpired`.
  public func readAsynchronously<R: Sendable>(
    options: AsynchronousFetchOptions = .init(),
    _ body: @escaping @Sendable (ReadTransaction) throws -> R
  ) async throws -> R {
    try await AsynchronousFetch(self, options) { transaction, _ in try body(transaction) }.value
  }
}
