extension Comparison {
  /// Measures upserts of pages of existing rows, each in one durable commit.
  mutating func upsertPages() async throws {
    try await upsertPages(.randomPages, .random, rows: 100, commits: plan.repetitions(40))
    try await upsertPages(.hotPages, .hot, rows: 100, commits: plan.repetitions(40))
    try await upsertPages(.largePages, .random, rows: 1000, commits: plan.repetitions(5))
    var size = Measurement(.fileSizeAfter)
    for store in stores { size.add(megabytes(try store.fileSize()), of: store.name) }
    writes.append(size)
  }

  private mutating func upsertPages(
    _ operation: Operation, _ kind: PageKind, rows: Int, commits: Int
  ) async throws {
    var upsert = Measurement(operation)
    for round in 0..<plan.rounds {
      let pages = try (0..<commits).map { _ in try workload.nextPage(kind, rows: rows) }
      try await eachStore(operation, round) { store in
        let time = try await seconds {
          for page in pages { try await store.upsert(page) }
        }
        upsert.add(Double(commits) / time, of: store.name)
      }
    }
    writes.append(upsert)
  }
}
