import EntityModel
public import EntityStore
import SystemSupport

extension Store {
  /// Inserts the items of a source in chunks, so that other writers have their turn between them.
  /// Another task reads the source while earlier items are written, at most two chunks ahead. It is
  /// cancelled at an error or a cancellation, which is reported at once: a source that does not end
  /// when its task is cancelled may give one more item then.
  ///
  /// Each item is inserted once, however often the batch is interrupted and run again with the same
  /// source: items that were inserted before are skipped. A batch is the same if its entity,
  /// conflict rule and switched off checks are the same (or if it has the same name). Its source
  /// must then begin with the same items.
  ///
  /// - Parameter progress: Called after each commit.
  /// - Throws: `BatchItemError` for an item that is refused (unless refusals are collected); it
  ///   contains `validation`, `unknownAttribute`, or `uniqueViolation` with the record that has the
  ///   values. Errors of the source are passed on. In both cases all earlier items stay committed,
  ///   and the same request continues with that item. `CancellationError`: the earlier chunks stay
  ///   committed, and the same request continues. `unknownEntity`; `invalidRequest` without a
  ///   unique index for `update(by:)`, or for a source that begins with other items. `busy` if the
  ///   same batch is running.
  public func execute(
    _ request: BatchInsertRequest, progress: (@Sendable (BatchProgress) -> Void)? = nil
  ) async throws -> BatchResult {
    try await insert(request, beforeLoad: nil, progress)
  }

  /// Inserts the items of a source, as `execute` does.
  ///
  /// - Parameter beforeLoad: Not `nil` for a load, which commits more at a time, and leaves the
  ///   checkpoint in the store at the end. The same request, run again, then inserts only the items
  ///   that follow, until `removeCheckpoint(in:)` is called. Called before the first transaction if
  ///   the source has further items and the request is not refused.
  package func insert(
    _ request: BatchInsertRequest, beforeLoad: (@Sendable () async throws -> Void)?,
    _ progress: (@Sendable (BatchProgress) -> Void)?
  ) async throws -> BatchResult {
    try await BatchRun.begin(
      "insert", request.identity, request.options, on: self, isLoad: beforeLoad != nil
    ) { run in
      let buffer = ItemBuffer()
      // Not a child task: an item that is refused is reported although the source keeps the reading
      // task waiting for its next one.
      let reading = Task { await request.readItems(of: run, into: buffer) }
      defer {
        buffer.close()
        reading.cancel()
      }
      return try await withTaskCancellationHandler {
        if let beforeLoad {
          try await buffer.wait(for: run.start.done)
          try Task.checkCancellation()
          if buffer.items(from: run.start.done)?.items.isEmpty == false {
            try self.read { try request.checkTarget(in: $0) }
            try await beforeLoad()
          }
        }
        return try await request.insertItems(of: run, from: buffer, progress)
      } onCancel: {
        reading.cancel()
        buffer.end(.failure(CancellationError()))
      }
    }
  }
}

extension BatchInsertRequest {
  /// Returns the number of records that interrupted runs of a load have inserted.
  ///
  /// - Returns: `nil` if they have inserted all items.
  package func insertedBefore(in transaction: ReadTransaction) throws -> Int64? {
    guard let position = try checkpoint.load(in: transaction)?.position else { return 0 }
    let areAllInserted = position.isLoaded == true || position.hasEnded == true
    return areAllInserted ? nil : position.counts.inserted
  }

  /// Removes the checkpoint that a load has left.
  package func removeCheckpoint(in transaction: WriteTransaction) throws {
    try checkpoint.remove(in: transaction)
  }

  private var checkpoint: Checkpoint<BatchCheckpoint> {
    Checkpoint(name: BatchRun.name("insert", identity, options))
  }
}

/// The identities and errors of single items that this run collects.
private struct InsertRecord {
  var identifiers: [ObjectID] = []
  var errors: [BatchItemError] = []
}

extension BatchInsertRequest {
  /// Reads the items of the source, ahead of those that are written.
  fileprivate func readItems(of run: BatchRun, into buffer: ItemBuffer) async {
    do {
      let reader = read(run.start.startedAt)
      try await reader.skip(to: run.start)
      var end = (done: run.start.done, digest: run.start.digest)
      while true {
        let taken = try await reader.take(from: end, rowsMax: run.write.rowsMax)
        // The source of a cancelled task may end before its last item.
        try Task.checkCancellation()
        end = (taken.end, taken.items.last?.digest ?? end.digest)
        guard await buffer.add(taken), !taken.areLast else { break }
      }
      buffer.end(.success(()))
    } catch {
      buffer.end(.failure(error))
    }
  }

  /// Inserts the items in chunks. A transaction takes the items that have been read, and never
  /// waits for others.
  fileprivate func insertItems(
    of run: BatchRun, from buffer: ItemBuffer, _ progress: (@Sendable (BatchProgress) -> Void)?
  ) async throws -> BatchResult {
    let record = Locked(InsertRecord())
    var done = run.start.done
    while true {
      try Task.checkCancellation()
      try await buffer.wait(for: done)
      let (committed, isDone) = try await run.write.runChunk(on: run.store, from: run.start) {
        try insert(from: buffer, in: $0, &$1, &$2, record)
      }
      done = committed.position.done
      progress?(BatchProgress(done: done, total: nil))
      if isDone {
        let record = record.withLock { $0 }
        return BatchResult(
          resultType, committed.position.counts, record.identifiers, isResumed: run.isResumed,
          errors: record.errors)
      }
    }
  }

  /// Inserts as many items as the chunk has room for.
  ///
  /// - Returns: True if items are left.
  private func insert(
    from buffer: ItemBuffer, in transaction: WriteTransaction, _ checkpoint: inout BatchCheckpoint,
    _ chunk: inout ChunkBudget, _ record: Locked<InsertRecord>
  ) throws -> Bool {
    transaction.leaveOut(options.without)
    try checkTarget(in: transaction)
    while let taken = buffer.items(from: checkpoint.done) {
      if try !insert(taken, in: transaction, &checkpoint, &chunk, record) { return true }
      if taken.areLast { return false }
    }
    chunk.end()
    return true
  }

  /// Throws unless the store has the entity, and the unique index that `update(by:)` needs.
  fileprivate func checkTarget(in transaction: ReadTransaction) throws {
    if entityName.isEmpty { return }
    let entity = try transaction.catalog.entity(entityName)
    if case .update(let attributes) = onConflict { _ = try entity.uniqueIndex(on: attributes) }
  }

  /// Inserts the items for which the chunk has room.
  ///
  /// - Returns: True if all are inserted and the chunk has room.
  private func insert(
    _ taken: TakenItems, in transaction: WriteTransaction, _ checkpoint: inout BatchCheckpoint,
    _ chunk: inout ChunkBudget, _ record: Locked<InsertRecord>
  ) throws -> Bool {
    while checkpoint.done < taken.end {
      let item = taken[checkpoint.done]
      do {
        let id = try insert(item.row, &checkpoint.counts, in: transaction)
        if let id, resultType == .identifiers { record.withLock { $0.identifiers.append(id) } }
      } catch {
        let refusal = try refusal(of: item.row, checkpoint.done + 1, error)
        guard case .collect(let errorsMax) = itemErrors else {
          if chunk.rows == 0 { throw refusal }
          // The earlier items are committed; this one is refused again as the first of its chunk.
          chunk.end()
          return false
        }
        checkpoint.counts.refused += 1
        record.withLock { if $0.errors.count < errorsMax { $0.errors.append(refusal) } }
      }
      checkpoint.done += 1
      checkpoint.digest = item.digest
      chunk.add(rows: 1)
      // Checked after the item, so that each chunk inserts at least one.
      if !chunk.hasRoom { return false }
    }
    return true
  }

  /// Inserts one item.
  ///
  /// - Returns: `nil` if the item was skipped.
  private func insert(
    _ row: BatchRow, _ counts: inout BatchResult.Counts, in transaction: WriteTransaction
  ) throws -> ObjectID? {
    if case .update(let attributes) = onConflict {
      let before = try transaction.count(of: entityName)
      let id = try upsert(row, by: attributes, in: transaction)
      if try transaction.count(of: entityName) > before {
        counts.inserted += 1
      } else {
        counts.updated += 1
      }
      return id
    }
    if case .record(let id, let values) = row.content {
      return try insert(id, values, &counts, in: transaction)
    }
    do {
      let id = try insert(row, in: transaction)
      counts.inserted += 1
      return id
    } catch let error as StoreError where error.code == .uniqueViolation && onConflict == .skip {
      counts.skipped += 1
      return nil
    }
  }

  /// Inserts a record of a dump.
  private func insert(
    _ id: ObjectID, _ values: [String: Value], _ counts: inout BatchResult.Counts,
    in transaction: WriteTransaction
  ) throws -> ObjectID? {
    if id.entity == Checkpoint<BatchCheckpoint>.entityName {
      // This batch has a checkpoint itself, which may have the number or the name of this one.
      if values["name"] == .string(checkpoint.name) {
        counts.skipped += 1
        return nil
      }
      counts.inserted += 1
      return try transaction.insert(id.entity, values)
    }
    try transaction.insert(id, values)
    counts.inserted += 1
    return id
  }

  private func insert(_ row: BatchRow, in transaction: WriteTransaction) throws -> ObjectID {
    switch row.content {
    case .values(let values), .record(_, let values):
      return try transaction.insert(entityName, values)
    case .entity(let values, let links, let type):
      return try transaction.insert(values, links, as: type)
    case .failure(let error): throw error
    }
  }

  private func upsert(
    _ row: BatchRow, by attributes: [String], in transaction: WriteTransaction
  ) throws -> ObjectID {
    switch row.content {
    case .values(let values), .record(_, let values):
      return try transaction.upsert(entityName, values, by: attributes)
    case .entity(let values, let links, let type):
      return try transaction.upsert(values, links, as: type, by: attributes)
    case .failure(let error): throw error
    }
  }

  /// Returns the error that reports a refused item.
  ///
  /// - Throws: Errors that are not about the item.
  private func refusal(
    of row: BatchRow, _ number: Int64, _ error: any Error
  ) throws -> BatchItemError {
    var isAboutItem = if case .failure = row.content { true } else { false }
    if let error = error as? StoreError {
      switch error.code {
      case .validation, .uniqueViolation, .unknownEntity, .unknownAttribute, .missingRecord,
        .invalidRequest:
        isAboutItem = true
      default: break
      }
    }
    guard isAboutItem else { throw error }
    return BatchItemError(item: number, place: row.place, error: error)
  }
}
