extension Comparison {
  /// Measures both kinds of loads into empty stores. The stores of the last load in arrival order
  /// stay open for all further operations.
  mutating func load() async throws {
    try await loadInArrivalOrder()
    try await loadSorted()
  }

  private mutating func loadInArrivalOrder() async throws {
    var speed = Measurement(.bulkLoad)
    var memory = Measurement(.loadMemory)
    var size = Measurement(.fileSize)
    for round in 0..<plan.loadRounds {
      try await eachStore(.bulkLoad, round) { store in
        try store.open(in: scratch.emptyFolder(store.name.rawValue))
        let load = try await timed { feed in try await store.bulkLoad(feed) }
        speed.add(load.speed, of: store.name)
        memory.add(load.memory, of: store.name)
        size.add(megabytes(try store.fileSize()), of: store.name)
        if round < plan.loadRounds - 1 { try store.close() }
      }
    }
    writes += [speed, memory, size]
  }

  /// Measures sorted loads by new candidates in folders of their own.
  private mutating func loadSorted() async throws {
    var speed = Measurement(.sortedLoad)
    var size = Measurement(.sortedFileSize)
    let unused = try CandidateName.make(stores.map(\.name)).compactMap { $0 as? any EpisodeStore }
    for _ in 0..<plan.loadRounds {
      for store in unused {
        try store.open(in: scratch.emptyFolder("sorted-\(store.name.rawValue)"))
        var isSupported = false
        let load = try await timed { feed in isSupported = try await store.sortedLoad(feed) }
        if isSupported {
          speed.add(load.speed, of: store.name)
          size.add(megabytes(try store.fileSize()), of: store.name)
        }
        try store.close()
      }
    }
    writes += [speed, size]
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
