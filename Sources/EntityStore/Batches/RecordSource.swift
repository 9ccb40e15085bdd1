package import EntityModel

/// A fetch request, together with the conversion of a record to the caller's type.
package struct RecordSource<Element: Sendable>: Sendable {
  /// Passes the value of one record to a closure.
  package typealias Decode = (RecordView, Int64, (Element) throws -> Void) throws -> Void

  package let request: FetchRequest
  private let makeDecode: @Sendable (ReadTransaction, EntityLayout) -> Decode
  /// Reads the relationships that the request prefetches into the values.
  let prefetch: @Sendable (inout [Element], ReadTransaction) throws -> Void

  /// Returns the function that converts the records of a snapshot to values.
  package func decoder(in transaction: ReadTransaction, _ entity: EntityLayout) -> Decode {
    makeDecode(transaction, entity)
  }

  // MARK: All on one snapshot

  /// Calls the closure with the record ids and values of the request one by one, in order, without
  /// prefetching.
  ///
  /// - Parameter begin: Called with the number of values, if it is known without reading records.
  /// - Throws: As `ReadTransaction.forEach`.
  func forEach(
    in transaction: ReadTransaction, begin: (_ count: Int?) -> Void = { _ in },
    _ body: (Int64, Element) throws -> Void
  ) throws {
    try transaction.requireRecords(request)
    var execution = try FetchExecution(request, in: transaction)
    begin(execution.countsOnly ? try execution.count() : nil)
    let decode = makeDecode(transaction, execution.entity)
    try execution.enumerateRecords { id, view in
      try decode(view, id) { try body(id, $0) }
      return true
    }
  }

  // MARK: Identities first

  /// Returns the record ids of the request, in order: 8 bytes each.
  ///
  /// - Throws: As `ReadTransaction.forEach`.
  func identities(in transaction: ReadTransaction) throws -> [Int64] {
    try transaction.requireRecords(request)
    var identities: [Int64] = []
    var execution = try FetchExecution(request, in: transaction)
    try execution.run { row in
      identities.append(row.id)
      return true
    }
    return identities
  }

  /// Reads the records as they are in this snapshot, even if they no longer match.
  ///
  /// - Returns: One element for each record id: `nil` for a record that has been deleted.
  /// - Throws: `unknownEntity`, `damaged`, a storage failure, and the errors of the caller's type.
  func read(
    _ identities: some Collection<Int64>, in transaction: ReadTransaction
  ) throws -> [Element?] {
    let entity = try transaction.catalog.entity(request.entityName)
    let decode = makeDecode(transaction, entity)
    var values: [Element] = []
    /// The position in `values` of each element of `identities`.
    var places: [Int?] = []
    for id in identities {
      let view = try transaction.view(of: id, in: entity)
      places.append(view == nil ? nil : values.count)
      if let view { try decode(view, id) { values.append($0) } }
    }
    try prefetch(&values, transaction)
    return places.map { $0.map { values[$0] } }
  }

  /// Returns the batch size to use.
  ///
  /// - Parameter asked: `nil` uses the request's batch size, or else the store's default.
  /// - Throws: `invalidRequest` for one that is not positive.
  func batchSize(_ asked: Int?) throws -> Int {
    let size = asked ?? request.fetchBatchSize ?? StoreLimits.batchRecords
    guard size > 0 else {
      throw StoreError(
        .invalidRequest, "a batch size is not positive", [("batch size", String(size))],
        advice: "use nil for the default")
    }
    return size
  }
}

extension RecordSource<Record> {
  package init(_ request: FetchRequest) {
    self.request = request
    makeDecode = { _, entity in
      { view, id, body in try body(try Record(view, id: id, of: entity)) }
    }
    prefetch = { _, _ in }
  }
}

extension RecordSource where Element: Entity {
  /// Creates the source for a descriptor.
  ///
  /// - Throws: `invalidRequest` for a sort that names no attribute.
  package init(_ descriptor: FetchDescriptor<Element>) throws {
    self.init(typed: try descriptor.request())
  }

  init(typed request: FetchRequest) {
    self.request = request
    makeDecode = { transaction, entity in
      let decoder = EntityDecoder(Element.self, entity: entity, in: transaction)
      return { view, id, body in
        try decoder.decode(view, id) { try body(try Element(from: &$0)) }
      }
    }
    prefetch = { values, transaction in
      for name in request.relationshipKeyPathsForPrefetching {
        try transaction.prefetch(name, into: &values)
      }
    }
  }
}
