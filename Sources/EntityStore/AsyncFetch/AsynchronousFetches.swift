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
      try source.values(in: transaction, report) { _ in }
    }
  }

  /// Begins to fetch the values of a descriptor with the identities of their records, and returns
  /// immediately.
  ///
  /// - Throws: `invalidRequest` for a sort that names no attribute. The returned fetch reports
  ///   other errors.
  public func fetchIdentifiedAsynchronously<T: Entity>(
    _ descriptor: FetchDescriptor<T>, options: AsynchronousFetchOptions = .init()
  ) throws -> AsynchronousFetch<[Identified<T>]> {
    let source = try RecordSource(descriptor)
    return AsynchronousFetch(self, options) { transaction, report in
      var identities: [ObjectID] = []
      let values = try source.values(in: transaction, report) { id in
        identities.append(ObjectID(entity: T.entityName, number: id))
      }
      return zip(identities, values).map { Identified($0, $1) }
    }
  }

  /// Begins to fetch the identities of the records of a request, and returns immediately. The
  /// number of records is known at the end only.
  public func fetchIdentifiersAsynchronously(
    _ request: FetchRequest, options: AsynchronousFetchOptions = .init()
  ) -> AsynchronousFetch<[ObjectID]> {
    AsynchronousFetch(self, options) { transaction, report in
      let identities = try RecordSource(request).identities(in: transaction)
      report.end(identities.count)
      return identities.map { ObjectID(entity: request.entityName, number: $0) }
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

extension RecordSource {
  /// Returns the values of the request with what it prefetches, and reports the progress.
  ///
  /// - Parameter each: Called with each record id, in order.
  fileprivate func values(
    in transaction: ReadTransaction, _ report: FetchReport, _ each: (Int64) -> Void
  ) throws -> [Element] {
    var values: [Element] = []
    try forEach(in: transaction, begin: report.begin) { id, value in
      each(id)
      values.append(value)
      report.add()
    }
    try prefetch(&values, transaction)
    report.end()
    return values
  }
}
