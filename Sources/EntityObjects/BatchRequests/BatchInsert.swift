import EntityModel
public import EntityStore
import SystemSupport

extension Store {
  /// Inserts the items of a source in chunks, so that other writers have their turn between them.
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
    try await BatchRun.begin("insert", request.identity, request.options, on: self) { run in
      let reader = request.read(run.start.startedAt)
      try await reader.skip(to: run.start)
      let record = Locked(InsertRecord())
      var reached = run.start
      while true {
        try Task.checkCancellation()
        let taken = try await reader.take(
          from: (reached.done, reached.digest), rowsMax: run.write.rowsMax)
        repeat {
          let (committed, isDone) = try await run.write.runChunk(on: self, from: run.start) {
            try request.insert(taken, in: $0, &$1, &$2, record)
          }
          reached = committed.position
          progress?(BatchProgress(done: reached.done, total: nil))
          if isDone {
            let record = record.withLock { $0 }
            return BatchResult(
              request.resultType, reached.counts, record.identifiers, isResumed: run.isResumed,
              errors: record.errors)
          }
        } while reached.done < taken.end
      }
    }
  }
}

/// The identities and errors of single items that this run collects.
private struct InsertRecord {
  var identifiers: [ObjectID] = []
  var errors: [BatchItemError] = []
}

extension BatchInsertRequest {
  /// Inserts as many items as the chunk has room for.
  ///
  /// - Returns: True if items are left.
  fileprivate func insert(
    _ taken: TakenItems, in transaction: WriteTransaction, _ checkpoint: inout BatchCheckpoint,
    _ chunk: inout ChunkBudget, _ record: Locked<InsertRecord>
  ) throws -> Bool {
    transaction.leaveOut(options.without)
    let entity = try transaction.catalog.entity(entityName)
    if case .update(let attributes) = onConflict { _ = try entity.uniqueIndex(on: attributes) }
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
          return true
        }
        checkpoint.counts.refused += 1
        record.withLock { if $0.errors.count < errorsMax { $0.errors.append(refusal) } }
      }
      checkpoint.done += 1
      checkpoint.digest = item.digest
      chunk.add(rows: 1)
      // Checked after the item, so that each chunk inserts at least one.
      if !chunk.hasRoom { return true }
    }
    if taken.areLast { return false }
    chunk.end()
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
    do {
      let id = try insert(row, in: transaction)
      counts.inserted += 1
      return id
    } catch let error as StoreError where error.code == .uniqueViolation && onConflict == .skip {
      counts.skipped += 1
      return nil
    }
  }

  private func insert(_ row: BatchRow, in transaction: WriteTransaction) throws -> ObjectID {
    switch row.content {
    case .values(let values): return try transaction.insert(entityName, values)
    case .entity(let values, let links, let type):
      return try transaction.insert(values, links, as: type)
    case .failure(let error): throw error
    }
  }

  private func upsert(
    _ row: BatchRow, by attributes: [String], in transaction: WriteTransaction
  ) throws -> ObjectID {
    switch row.content {
    case .values(let values): return try transaction.upsert(entityName, values, by: attributes)
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
      case .validation, .uniqueViolation, .unknownAttribute, .missingRecord, .invalidRequest:
        isAboutItem = true
      default: break
      }
    }
    guard isAboutItem else { throw error }
    return BatchItemError(item: number, place: row.place, error: error)
  }
}
