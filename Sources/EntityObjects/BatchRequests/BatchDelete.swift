import EntityModel
public import EntityStore

extension Store {
  /// Deletes the records that match, in chunks, so that other writers have their turn between them.
  ///
  /// Records that a `cascade` rule deletes together with a record are deleted in the same commit
  /// and are not visited again. A `deny` rule protects a record only while it is linked with one
  /// that is not to be deleted itself; a group of records that protect each other and are all to be
  /// deleted is deleted in one commit.
  ///
  /// - Parameter progress: Called after each commit.
  /// - Throws: `unknownEntity`, `unknownAttribute`, `invalidRequest` before anything is written;
  ///   the last also for records of several entities. `deletionDenied` and `CancellationError`: the
  ///   earlier chunks stay committed, and the same request continues from that point. `busy` if
  ///   the same batch is running.
  public func execute(
    _ request: BatchDeleteRequest, progress: (@Sendable (BatchProgress) -> Void)? = nil
  ) async throws -> BatchResult {
    guard let entityName = try request.entityName() else {
      return BatchResult(request.resultType, BatchResult.Counts(), [], isResumed: false)
    }
    let options = request.options
    return try await BatchRun.begin("delete", request.identity, options, on: self) { run in
      let selection: BatchSelection
      switch request.target {
      case .matching(_, let predicate):
        selection = try BatchSelection(
          entityName, predicate, beyond: run.start.last, in: self)
      case .records(let records):
        selection = BatchSelection(entityName, records, beyond: run.start.last)
      }
      return try await run.run(
        over: selection, request.resultType, without: options.without, progress: progress
      ) { bound, transaction in
        let terms = Deletion.Terms(followsRules: !options.without.contains(.deleteRules)) {
          try bound.contains($0.id, of: $0.entity)
        }
        return { row, counts, changed in
          guard case .record(let old) = row.fields else { return }
          let removed = try Deletion.run(of: row.id, old, in: bound.entity, on: terms, transaction)
          for item in removed
          where item.entity == entityName && (item.id == row.id || selection.contains(item.id)) {
            changed.append(item.id)
          }
          counts.deleted += Int64(changed.count)
        }
      }
    }
  }
}
