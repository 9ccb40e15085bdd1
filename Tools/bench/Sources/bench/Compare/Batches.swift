import CEpisodes

extension Comparison {
  /// Measures batch updates that set the progress of all rows of a type, about three eighths of
  /// all.
  mutating func updateBatches() async throws {
    try await measureBatches(.batchUpdate) { store, round in
      try await store.setProgress(ofType: 3, to: Double(round + 1) / 100)
    }
  }

  /// Measures batch deletes of the rows with the oldest updates, a fiftieth of the loaded rows
  /// each.
  mutating func deleteBatches() async throws {
    let dates = workload.withAllRows { $0.map(\.updated_at).sorted() }
    try await measureBatches(.batchDelete) { store, round in
      try await store.delete(updatedBefore: dates[(round + 1) * dates.count / 50])
    }
  }

  /// Measures one batch for each store and round.
  ///
  /// - Parameter body: Returns the number of rows that it changed.
  /// - Throws: `mismatch` if these numbers differ.
  private mutating func measureBatches(
    _ operation: Operation, _ body: (any EpisodeStore, _ round: Int) async throws -> Int
  ) async throws {
    var batch = Measurement(operation)
    for round in 0..<plan.rounds {
      var expected: Int?
      try await eachStore(operation, round) { store in
        var rows = 0
        let time = try await seconds { rows = try await body(store, round) }
        guard rows == expected ?? rows else {
          throw BenchError(
            .mismatch, "\(operation.title): \(store.name) \(rows) rows, another \(expected ?? 0)")
        }
        expected = rows
        batch.add(Double(rows) / time, of: store.name)
      }
    }
    writes.append(batch)
  }
}
