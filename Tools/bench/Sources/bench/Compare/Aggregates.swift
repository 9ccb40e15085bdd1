extension Comparison {
  /// What looks at all rows, or at all entries of an index, and returns a number.
  mutating func readAggregates() async throws {
    var scan = try await aggregate(.scan) { _ = try $0.count(ScanFilter()) }
    // From microseconds to rows a second.
    scan.samples = scan.samples.mapValues { $0.map { Double(workload.count) * 1e6 / $0 } }
    reads.append(scan)
    reads.append(try await aggregate(.sum) { _ = try $0.sumOfDurations() })
    reads.append(try await aggregate(.count) { _ = try $0.count(type: freeType) })
    reads.append(try await aggregate(.group) { _ = try $0.countsByType() })
  }

  private func aggregate(
    _ operation: Operation, _ body: (any EpisodeStore) throws -> Void
  ) async throws -> Measurement {
    try await measureReads(operation, by: (any EpisodeStore).self, repetitions: 5, scale: 1e6) {
      for _ in 0..<5 { try body($0) }
    }
  }
}
