public import EntityModel

extension ReadTransaction {
  /// Calls the closure with the value of each record of the descriptor, in order, until it returns
  /// `false`. Memory is bounded by one value, so nothing is prefetched, whatever the descriptor
  /// requests.
  ///
  /// In a write transaction the closure may write, as in `forEach` for a request.
  ///
  /// - Throws: As `fetch`; the error of the closure, after which no more records are read.
  @discardableResult
  public func forEach<T: Entity>(
    _ descriptor: FetchDescriptor<T>, _ body: (T) throws -> Bool
  ) throws -> FetchStatistics {
    let request = try descriptor.request()
    try requireRecords(request)
    var execution = try FetchExecution(request, in: self)
    let decoder = EntityDecoder(T.self, entity: execution.entity, in: self)
    try execution.enumerateRecords { id, view in
      var shouldContinue = true
      try decoder.decode(view, id) { shouldContinue = try body(try T(from: &$0)) }
      return shouldContinue
    }
    return execution.statistics
  }

  /// Calls the closure with each record of the descriptor in turn, in place, until it returns
  /// `false`. Only the values that the closure reads are decoded: a closure that reads two
  /// attributes of a thousand records allocates nothing for the others.
  ///
  /// ```swift
  /// try store.forEachRecord(recent) { record in
  ///   let date: Date = try record["updatedAt"]
  ///   try record.withText("title") { title in list.add(title, date) }
  ///   return true
  /// }
  /// ```
  ///
  /// In a write transaction the closure may write, as in `forEach`; it gets copies there.
  ///
  /// - Throws: As `fetch`; the error of the closure.
  // Inlinable, like all that reads a descriptor: generic code that knows its types asks for no
  // metadata.
  @inlinable
  @discardableResult
  public func forEachRecord<T: Entity>(
    _ descriptor: FetchDescriptor<T>, _ body: (inout RecordReader) throws -> Bool
  ) throws -> FetchStatistics {
    try forEachRecord(try descriptor.request(), body)
  }

  /// Calls the closure with each record of a request in turn, as for a descriptor.
  @discardableResult
  public func forEachRecord(
    _ request: FetchRequest, _ body: (inout RecordReader) throws -> Bool
  ) throws -> FetchStatistics {
    try requireRecords(request)
    var execution = try FetchExecution(request, in: self)
    let entity = execution.entity
    let decoder = EntityDecoder(entity: entity, in: self)
    try execution.enumerateRecords { id, view in
      var shouldContinue = true
      try readable(view, of: entity) { view in
        try decoder.decode(view, id) { shouldContinue = try body(&$0) }
      }
      return shouldContinue
    }
    return execution.statistics
  }

  /// Calls the closure with a view that stays valid when the closure writes.
  private func readable(
    _ view: RecordView, of entity: EntityLayout, _ body: (RecordView) throws -> Void
  ) throws {
    guard canWrite else { return try body(view) }
    try Array(entity.record.storedBytes(of: view)).withUnsafeBytes { try body(view.moved(to: $0)) }
  }
}

extension Store {
  /// Calls the closure with each record of one fetch, on a snapshot of its own, which lasts until
  /// the last call: use `fetchBatches` if the closure takes long.
  @discardableResult
  public func forEach(
    _ request: FetchRequest, _ body: (Record) throws -> Bool
  ) throws -> FetchStatistics {
    try read { try $0.forEach(request, body) }
  }

  /// Calls the closure with each value of one fetch, on a snapshot of its own.
  @discardableResult
  public func forEach<T: Entity>(
    _ descriptor: FetchDescriptor<T>, _ body: (T) throws -> Bool
  ) throws -> FetchStatistics {
    try read { try $0.forEach(descriptor, body) }
  }

  /// Calls the closure with each row of one fetch, on a snapshot of its own.
  @discardableResult
  public func forEachRow(
    _ request: FetchRequest, _ body: (ResultRow) throws -> Bool
  ) throws -> FetchStatistics {
    try read { try $0.forEachRow(request, body) }
  }

  /// Calls the closure with each record of one fetch in place, on a snapshot of its own.
  @inlinable
  @discardableResult
  public func forEachRecord<T: Entity>(
    _ descriptor: FetchDescriptor<T>, _ body: (inout RecordReader) throws -> Bool
  ) throws -> FetchStatistics {
    try read { try $0.forEachRecord(descriptor, body) }
  }
}
