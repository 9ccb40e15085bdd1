import Foundation
import Mooring

/// Mooring through its typed interface: one migration, `upsert` by the unique id, and one fetch
/// descriptor per list.
final class MooringCandidate: CardViewer, DeferringLoader {
  let name = CandidateName.mooring
  private var store: Store?
  private var folder: URL?

  func open(in folder: URL) throws {
    var options = Store.Options()
    options.mapSize = 8 << 30
    store = try Store.open(
      at: folder.path,
      migrations: [MigrationSource(embedded: [("0001_bench", Array(episodeMigration.utf8))])],
      migrate: .ifEmpty, requiring: [MooringEpisode.self], options: options)
    self.folder = folder
  }

  func close() throws {
    store?.close()
    store = nil
  }

  func fileSize() throws -> Int {
    guard let folder else { throw misused() }
    return try sizeOfFiles(in: folder)
  }

  // MARK: Writes

  func bulkLoad(_ feed: RowFeed) async throws {
    let store = try opened()
    for rows in feed {
      let episodes = rows.episodes
      try await store.write { transaction in
        for episode in episodes { try transaction.insert(MooringEpisode(episode)) }
      }
    }
  }

  /// The rows become Swift values on the task that reads the source, during the load.
  func loadBeforeIndexes(_ feed: RowFeed) async throws {
    let result = try await opened().load(BatchInsertRequest(ArrivingEpisodes(feed.workload)))
    guard Int(result.counts.inserted) == feed.workload.count else {
      throw BenchError(.mismatch, "\(name): loaded \(result.counts.inserted) rows")
    }
  }

  func upsert(_ page: Rows) async throws {
    let episodes = page.episodes
    try opened().writeBlocking { transaction in
      for episode in episodes { try transaction.upsert(MooringEpisode(episode), by: \.id) }
    }
  }

  func setProgress(_ changes: [ProgressChange], by producers: Producers) async throws {
    let store = try opened()
    switch producers {
    case .thread:
      for change in changes {
        let change = MooringProgress(change)
        _ = try store.writeBlocking { try $0.upsert(change, by: \.id) }
      }
    case .tasks(let count):
      try await withThrowingTaskGroup(of: Void.self) { group in
        for task in 0..<count {
          group.addTask {
            for place in stride(from: task, to: changes.count, by: count) {
              let change = MooringProgress(changes[place])
              try await store.write { _ = try $0.upsert(change, by: \.id) }
            }
          }
        }
        try await group.waitForAll()
      }
    }
  }

  func setProgress(ofType type: Int, to progress: Double) async throws -> Int {
    try await setProgress(ofType: type, to: progress, chunkDuration: StoreLimits.chunkDuration)
  }

  func setProgress(
    ofType type: Int, to progress: Double, chunkDuration: Duration
  ) async throws -> Int {
    var update = BatchUpdateRequest(
      MooringEpisode.entityName, where: .comparison("type", .equal, .int64(Int64(type))),
      set: ["progress": .value(.double(progress))])
    update.options.chunkDuration = chunkDuration
    return Int(try await opened().execute(update).counts.updated)
  }

  func delete(updatedBefore date: Double) async throws -> Int {
    try await delete(updatedBefore: date, chunkDuration: StoreLimits.chunkDuration)
  }

  func delete(updatedBefore date: Double, chunkDuration: Duration) async throws -> Int {
    let date = Date(timeIntervalSinceReferenceDate: date)
    var deletion = BatchDeleteRequest(
      MooringEpisode.entityName, where: .comparison("updatedAt", .less, .date(date)))
    deletion.options.chunkDuration = chunkDuration
    return Int(try await opened().execute(deletion).counts.deleted)
  }

  // MARK: Reads

  func episode(id: String) throws -> Episode? { try stored(id: id)?.episode }

  func touchEpisode(id: String) throws -> Bool { try stored(id: id) != nil }

  func episodes(_ list: HomeList, limit: Int) throws -> [Episode] {
    try stored(list, limit: limit).map(\.episode)
  }

  func touchEpisodes(_ list: HomeList, limit: Int) throws -> Int {
    try stored(list, limit: limit).count
  }

  func cards(_ list: HomeList, limit: Int) throws -> [Card] {
    try storedCards(list, limit: limit).map(\.card)
  }

  func touchCards(_ list: HomeList, limit: Int) throws -> Int {
    try storedCards(list, limit: limit).count
  }

  func count(_ filter: ScanFilter) throws -> Int {
    try opened().count(
      FetchDescriptor<MooringEpisode>(
        predicate: .comparison(
          "duration", .greaterOrEqual, .int64(Int64(filter.durationAtLeast)))
          && .comparison("progress", .greater, .double(filter.progressAbove))))
  }

  func sumOfDurations() throws -> Int {
    var request = FetchRequest(entityName: MooringEpisode.entityName)
    request.propertiesToFetch = [.sum("duration", as: "sum")]
    return try numbers(request).first ?? 0
  }

  func count(type: Int) throws -> Int {
    try opened().count(
      FetchDescriptor<MooringEpisode>(
        predicate: .comparison("type", .equal, .int64(Int64(type)))))
  }

  func countsByType() throws -> [Int] {
    var request = FetchRequest(entityName: MooringEpisode.entityName)
    request.propertiesToGroupBy = ["type"]
    request.propertiesToFetch = [.count(as: "count")]
    return try numbers(request)
  }

  func recentReader() throws -> @Sendable () throws -> Int {
    let store = try opened()
    return { try store.fetch(HomeList.recent.descriptor(limit: 20)).count }
  }

  func cardsInPlace(_ list: HomeList, limit: Int) throws -> [Card] {
    var cards: [Card] = []
    try eachCard(list, limit: limit) { title, date in
      cards.append(
        Card(title: String(copying: title), updatedAt: date.timeIntervalSinceReferenceDate))
    }
    return cards
  }

  func touchCardsInPlace(_ list: HomeList, limit: Int) throws -> Int {
    var count = 0
    try eachCard(list, limit: limit) { _, _ in count += 1 }
    return count
  }

  /// Passes two attributes of each record of a list, read in place in the map. The text is
  /// validated and not copied.
  private func eachCard(
    _ list: HomeList, limit: Int, _ body: (UTF8Span, Date) -> Void
  ) throws {
    try opened().forEachRecord(list.descriptor(limit: limit)) { record in
      let date: Date = try record["updatedAt"]
      try record.withText("title") { title in body(title, date) }
      return true
    }
  }

  private func stored(id: String) throws -> MooringEpisode? {
    try opened().read { try $0.get(MooringEpisode.self, where: \.id, is: id) }
  }

  private func stored(_ list: HomeList, limit: Int) throws -> [MooringEpisode] {
    try opened().fetch(list.descriptor(limit: limit))
  }

  private func storedCards(_ list: HomeList, limit: Int) throws -> [MooringCard] {
    try opened().fetch(list.descriptor(limit: limit).request(), as: MooringCard.self)
  }

  /// Returns the last value of each row, which must be a number.
  private func numbers(_ request: FetchRequest) throws -> [Int] {
    try opened().read { transaction in
      try transaction.fetchRows(request).map { row in
        guard case .int64(let number)? = row.values.last else {
          throw BenchError(.mismatch, "\(name): no number in \(row)")
        }
        return Int(number)
      }
    }
  }

  private func opened() throws -> Store {
    guard let store else { throw misused() }
    return store
  }
}
