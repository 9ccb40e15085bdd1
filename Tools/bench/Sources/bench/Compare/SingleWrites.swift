extension Comparison {
  /// Measures durable writes of one number of one row, as a player makes them: by one producer that
  /// blocks or awaits, and by several at once, whose writes may share a commit.
  mutating func writeTiny() async throws {
    var random = SeededRandom(seed: workload.seed &+ 4)
    let turns: [(Producers, Int)] = [
      (.thread, 200), (.tasks(1), 200), (.tasks(8), 800), (.tasks(64), 3200),
    ]
    for (producers, count) in turns {
      let operation = Operation.tinyWrites(producers)
      var speed = Measurement(operation)
      for round in 0..<plan.rounds {
        let changes = (0..<max(producers.count, plan.repetitions(count))).map { _ in
          ProgressChange(
            id: "ep:\(Int.random(in: 0..<workload.count, using: &random))",
            progress: Double.random(in: 0..<1, using: &random))
        }.uniqued()
        try await eachStore(operation, round) { store in
          let time = try await seconds {
            try await store.setProgress(changes, by: producers)
          }
          speed.add(Double(changes.count) / time, of: store.name)
        }
      }
      writes.append(speed)
    }
  }
}

extension [ProgressChange] {
  /// Returns the first change of each row. With two changes at once, either could be the last one.
  fileprivate func uniqued() -> [ProgressChange] {
    var seen: Set<String> = []
    return filter { seen.insert($0.id).inserted }
  }
}
