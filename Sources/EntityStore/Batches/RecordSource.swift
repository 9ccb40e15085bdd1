package import EntityModel

/// What is fetched, and how a record becomes a value of the caller's type.
package struct RecordSource<Element: Sendable>: Sendable {
  /// Hands on the value of one record.
  package typealias Decode = (RecordView, Int64, (Element) throws -> Void) throws -> Void

  package let request: FetchRequest
  private let makeDecode: @Sendable (ReadTransaction, EntityLayout) -> Decode
  /// Reads the relationships that the request prefetches into the values.
  let prefetch: @Sendable (inout [Element], ReadTransaction) throws -> Void

  /// How the records of a snapshot become values.
  package func decoder(in transaction: ReadTransaction, _ entity: EntityLayout) -> Decode {
    makeDecode(transaction, entity)
  }

  // MARK: All on one snapshot

  /// Hands on the values of the request one by one, in order, with nothing prefetched.
  ///
  /// - Parameter begin: Told how many there will be, where that takes no look at the records.
  /// - Throws: As `ReadTransaction.forEach`.
  func forEach(
    in transaction: ReadTransaction, begin: (_ count: Int?) -> Void = { _ in },
    _ body: (Element) throws -> Void
  ) throws {
    try transaction.requireRecords(request)
    var execution = try FetchExecution(request, in: transaction)
    begin(execution.countsOnly ? try execution.count() : nil)
    let decode = makeDecode(transaction, execution.entity)
    try execution.enumerateRecords { id, view in
      try decode(view, id, body)
      return true
    }
  }

  // MARK: Identities first

  /// The object ids of the request, in order: 8 bytes each.
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

  /// The records as they are in this snapshot, whether or not they still match.
  ///
  /// - Returns: One for each object id: `nil` for a record that is gone.
  /// - Throws: `unknownEntity`, `damaged`, `storage`, and what the caller's type throws.
  func read(
    _ identities: some Collection<Int64>, in transaction: ReadTransaction
  ) throws -> [Element?] {
    let entity = try transaction.catalog.entity(request.entityName)
    let decode = makeDecode(transaction, entity)
    var values: [Element] = []
    /// By place in `identities`: the place in `values`.
    var places: [Int?] = []
    for id in identities {
      let view = try transaction.view(of: id, in: entity)
      places.append(view == nil ? nil : values.count)
      if let view { try decode(view, id) { values.append($0) } }
    }
    try prefetch(&values, transaction)
    return places.map { $0.map { values[$0] } }
  }

  /// - Parameter asked: 0 leaves it to the request, and that to the store.
  /// - Throws: `invalidRequest` for a negative one.
  func batchSize(_ asked: Int) throws -> Int {
    let size = asked == 0 ? request.fetchBatchSize : asked
    guard size >= 0 else {
      throw StoreError(
        .invalidRequest, "a batch size is negative", [("batch size", String(size))],
        advice: "0 leaves it to the store")
    }
    return size == 0 ? Limits.batchRecords : size
  }
}

extension RecordSource<Record> {
  package init(_ request: FetchRequest) {
    self.request = request
    makeDecode = { transaction, entity in
      { view, id, body in try body(try transaction.record(view, id: id, in: entity)) }
    }
    prefetch = { _, _ in }
  }
}

extension RecordSource where Element: Entity {
  /// - Throws: `invalidRequest` for a sort that names no attribute.
  package init(_ descriptor: FetchDescriptor<Element>) throws {
    self.init(typed: try descriptor.request())
  }

  init(typed request: FetchRequest) {
    self.request = request
    makeDecode = { transaction, entity in
      var decoder = EntityDecoder(Element.self, entity: entity, in: transaction)
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
