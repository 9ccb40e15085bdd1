import Dispatch

extension Comparison {
  /// Measures a thread that reads the 20 most recent episodes in a loop while pages are written
  /// without a pause.
  mutating func readBesideWriter() async throws {
    var median = Measurement(.busyMedian)
    var tail = Measurement(.busyTail)
    for round in 0..<plan.rounds {
      let pages = try (0..<plan.repetitions(100)).map { _ in
        try workload.nextPage(.random, rows: 100)
      }
      try await eachStore(.busyTail, round) { store in
        let latencies = try await latencies(of: store.recentReader()) {
          for page in pages { try await store.upsert(page) }
        }
        median.add(latencies.at(0.5) * 1e6, of: store.name)
        tail.add(latencies.at(0.99) * 1e6, of: store.name)
      }
    }
    reads += [median, tail]
  }

  private func latencies(
    of read: @escaping @Sendable () throws -> Int, during body: () async throws -> Void
  ) async throws -> Percentiles {
    let reader = LatencyReader { _ = try read() }
    do { try await body() } catch {
      _ = try? reader.stop()
      throw error
    }
    return try reader.stop()
  }
}
