import EntityModel

extension Store {
  /// Gives seals to the records of a store that was created without them, in chunks, each in a
  /// commit of its own. Blocks the calling thread; others can read and write between two chunks.
  ///
  /// The first commit sets the feature bit, after which programs that know no seals can only read,
  /// and gives each entity a layout version with seals, in which records are written from then on.
  /// The chunks write the other records again. A later call continues after a kill. Does nothing
  /// while a migration is in progress, and in a store that was never migrated.
  ///
  /// The change history is sealed from its next transaction on; the transactions before it stay as
  /// they are, because tokens contain a hash of them.
  ///
  /// - Parameter isCancelled: Called between two chunks.
  /// - Parameter committed: Called after each commit.
  /// - Throws: `damaged` if a record or the catalog is; `CancellationError`; `newerFormat`,
  ///   `readOnly`, `busy`, `diskFull` or another storage failure. Committed chunks stay.
  package func sealRecords(
    chunkDuration: Duration = StoreLimits.chunkDuration, isCancelled: () -> Bool = { false },
    committed: () throws -> Void = {}
  ) throws {
    while try !schema.isFullySealed {
      if isCancelled() { throw CancellationError() }
      let more = try changeSchema { try Sealing(transaction: $0).advance(chunkDuration) }
      try catalogs.refresh()
      try committed()
      if !more { return }
    }
  }
}

/// One transaction of the work that gives records their seals.
private struct Sealing {
  let transaction: SchemaTransaction

  private struct Position: Codable, Sendable {
    let entityID: Int
    var last: Int64
  }

  private static let saved = Checkpoint<Position>(name: "_seal")

  /// Writes one chunk.
  ///
  /// - Returns: False if no more can be done.
  func advance(_ duration: Duration) throws -> Bool {
    // A step in progress has stored the schema that it ends with, and would undo a change of it.
    guard transaction.catalog.running == nil, transaction.build == nil,
      transaction.schema.entity(named: Checkpoint<Position>.entityName) != nil
    else { return false }
    if !transaction.schema.isSealed { try begin() }
    guard
      let number = transaction.schema.entities.firstIndex(where: { $0.seals?.isComplete == false })
    else { return false }
    let entity = transaction.schema.entities[number]
    let isDone = try transaction.scope(author: nil) { scope in
      try sealChunk(of: entity, duration, in: scope)
    }
    if isDone {
      var schema = transaction.schema
      schema.entities[number].seals?.isComplete = true
      transaction.set(schema)
    }
    return true
  }

  private func begin() throws {
    var schema = transaction.schema
    let last = try transaction.scope(author: nil) { try $0.historyTree?.last() ?? 0 }
    schema.sealedHistorySince = last + 1
    try transaction.move(
      CatalogTree.backupsKey(isSealed: false), to: CatalogTree.backupsKey(isSealed: true))
    for number in schema.entities.indices {
      let entity = schema.entities[number]
      // An entity that has used up its layout versions stays without seals.
      guard let newest = entity.layouts.last, entity.layouts.count < StoreLimits.layoutsMax
      else { continue }
      schema.entities[number].layouts.append(newest)
      schema.entities[number].seals = RecordSeals(
        since: entity.layouts.count + 1,
        isComplete: try transaction.size(ofEntity: entity.id).records == 0)
    }
    transaction.set(schema)
  }

  /// Writes the next records of an entity that have no seals.
  ///
  /// - Returns: True if all records of the entity have seals then.
  private func sealChunk(
    of entity: EntityDescription, _ duration: Duration, in scope: WriteTransaction
  ) throws -> Bool {
    let layout = try scope.catalog.entity(entity.name)
    var position = Position(entityID: entity.id, last: .min)
    if let saved = try Self.saved.load(in: scope)?.position, saved.entityID == entity.id {
      position = saved
    }
    let chunk = ChunkBudget(duration: duration)
    var bytes: [UInt8] = []
    let more = try scope.scanRecords(of: layout, after: position.last) { id, view in
      if !layout.record.isSealed(view) {
        let values = try layout.decoding(id) { () throws(RecordDamage) in try view.values() }
        layout.encode(values, into: &bytes)
        try bytes.withUnsafeBytes { try scope.fill($0, id: id, in: layout) }
      }
      position.last = id
      return chunk.hasRoom
    }
    if more {
      try Self.saved.save(position, in: scope)
    } else {
      try Self.saved.remove(in: scope)
    }
    return !more
  }
}
