import Foundation

extension Comparison {
  /// Measures loads into empty stores. The stores of the last load stay open for all further
  /// operations.
  mutating func load() async throws {
    let operation = Operation.bulkLoad
    var speed = Measurement(operation)
    var memory = Measurement(.loadMemory)
    var size = Measurement(.fileSize)
    for round in 0..<plan.loadRounds {
      try await eachStore(operation, round) { store in
        try store.open(in: scratch.emptyFolder(store.name.rawValue))
        try store.prepareForManyReads()
        let load = try await timed { feed in try await store.bulkLoad(feed) }
        speed.add(load.speed, of: store.name)
        memory.add(load.memory, of: store.name)
        size.add(megabytes(try store.fileSize()), of: store.name)
        if round < plan.loadRounds - 1 { try store.close() }
      }
    }
    writes += [speed, memory, size]
  }

  /// Measures loads into empty stores whose indexes are built after the rows. The stores of the
  /// last round must give the same answers.
  mutating func loadBeforeIndexes() async throws {
    let operation = Operation.deferringLoad
    var speed = Measurement(operation)
    var memory = Measurement(.deferringLoadMemory)
    var size = Measurement(.deferringFileSize)
    let loaders = try stores.compactMap { try $0.name.makeStore() as? any DeferringLoader }
    for round in 0..<plan.loadRounds {
      announce(operation, round)
      for place in loaders.indices {
        let store = loaders[(place + round) % loaders.count]
        sync()
        try store.open(in: scratch.emptyFolder("\(store.name.rawValue)-before-indexes"))
        let load = try await timed { feed in try await store.loadBeforeIndexes(feed) }
        speed.add(load.speed, of: store.name)
        memory.add(load.memory, of: store.name)
        size.add(megabytes(try store.fileSize()), of: store.name)
        if round < plan.loadRounds - 1 { try store.close() }
      }
    }
    try CrossCheck(
      stores: loaders, workload: workload, randomEpisodes: plan.repetitions(10_000)
    ).run(after: "the load before the indexes")
    for store in loaders {
      try store.close()
      _ = try scratch.emptyFolder("\(store.name.rawValue)-before-indexes")
    }
    writes += [speed, gain(speed), memory, size]
  }

  /// Returns how many times as fast Mooring's load is as that of SQLite in C in arrival order.
  private func gain(_ speed: Measurement) -> Measurement {
    var gain = Measurement(.loadGain(rows: workload.count))
    let arrival = writes.first { $0.operation.title == Operation.bulkLoad.title }
    if let own = speed.summary(of: .mooring)?.median,
      let other = arrival?.summary(of: .sqlite)?.median
    {
      gain.add(own / other, of: .mooring)
    }
    return gain
  }

  private func timed(
    _ load: (RowFeed) async throws -> Void
  ) async throws -> (speed: Double, memory: Double) {
    let feed = RowFeed(workload, chunk: plan.commitRows)
    var time = 0.0
    let memory = try await peakOwnMemory { time = try await seconds { try await load(feed) } }
    return (Double(workload.count) / (time - feed.ownTime.seconds), megabytes(memory))
  }
}
