import EntityModel
public import EntityStore
public import Foundation

/// The figures of a store as of one snapshot. Without the migrations of the figures there are none.
///
/// Valid only as long as its transaction.
public struct StoreFigures {
  let snapshot: ReadTransaction
  /// True if the store has the entities of the figures.
  public let areRecorded: Bool

  public init(_ transaction: ReadTransaction) {
    snapshot = transaction
    areRecorded = transaction.hasFigures
  }

  /// Returns the slots that contain a time of the period, the oldest first; only those in which
  /// something has happened.
  ///
  /// - Complexity: O(log *n*), and O(1) for each slot.
  public func slots(
    _ resolution: FigureResolution, from: Date, to: Date
  ) throws -> [FigureSlot] {
    guard areRecorded else { return [] }
    let (first, last) = (resolution.slot(at: from), resolution.slot(at: to))
    let layout = try snapshot.layout(FigureRecord.entity)
    let slot = try layout.position(of: "slot")
    let values = try layout.position(of: "values")
    let cursor = try IndexPrefixCursor(
      try layout.index(named: "bySlot"), of: layout, leading: [.string(resolution.rawValue)],
      beyond: .int64(first - 1), in: snapshot)
    var slots: [FigureSlot] = []
    while let number = try cursor.next(), let row = try snapshot.row(number, of: layout),
      let found = row.int64(slot), found <= last
    {
      guard let figures = try row.value(values).dataValue.flatMap(SlotFigures.init) else {
        continue
      }
      slots.append(
        FigureSlot(resolution: resolution, start: resolution.start(of: found), figures: figures))
    }
    return slots
  }

  /// Returns the figures of a feed; `nil` if none are recorded.
  public func feed(_ id: Int64) throws -> FeedFigures? {
    guard areRecorded,
      let record = try snapshot.get(FeedFiguresRecord.entity, by: ["feed": .int64(id)])
    else { return nil }
    return try FeedFigures(record)
  }

  /// The number of feeds that have figures.
  public var feedCount: Int {
    get throws { areRecorded ? try snapshot.count(of: FeedFiguresRecord.entity) : 0 }
  }

  /// Calls the closure with the feeds that have figures, in no particular order.
  ///
  /// - Complexity: O(*n*), without an allocation for each feed.
  public func eachFeed(_ body: (FeedFigures.Brief) throws -> Void) throws {
    guard areRecorded else { return }
    let layout = try snapshot.layout(FeedFiguresRecord.entity)
    let feed = try layout.position(of: "feed")
    let askedAt = try layout.position(of: "askedAt")
    let succeededAt = try layout.position(of: "succeededAt")
    let failedSince = try layout.position(of: "failedSince")
    try snapshot.eachRow(of: layout) { row in
      if let id = row.int64(feed), let asked = row.date(askedAt) {
        try body(
          FeedFigures.Brief(
            id: id, askedAt: asked, succeededAt: row.date(succeededAt),
            failedSince: row.date(failedSince)))
      }
      return true
    }
  }

  /// Returns the sampled slow fetches, those that took the most time together first.
  public func slowFetches() throws -> [SlowFetch] {
    guard areRecorded else { return [] }
    return try snapshot.fetch(FetchRequest(entityName: SlowFetchRecord.entity))
      .map(SlowFetch.init)
      .sorted { ($1.totalSeconds, $0.shape) < ($0.totalSeconds, $1.shape) }
  }

  /// Returns the uses of the indexes of all entities but those of the system, by entity and name.
  ///
  /// Only fetches of programs that record figures are counted.
  public func indexUses() throws -> [IndexUse] {
    try indexUsesByNumber().values
      .sorted { ($0.entity, $0.index) < ($1.entity, $1.index) }
  }

  /// Returns the uses by the number of the index in the catalog.
  func indexUsesByNumber() throws -> [Int: IndexUse] {
    guard areRecorded else { return [:] }
    var records: [Int64: Record] = [:]
    for record in try snapshot.fetch(FetchRequest(entityName: IndexUseRecord.entity)) {
      records[try record["index"].int64Value ?? 0] = record
    }
    var uses: [Int: IndexUse] = [:]
    for entity in snapshot.schema.entities where !entity.isSystem {
      for index in entity.indexes {
        guard let record = records[Int64(index.id)] else { continue }
        uses[index.id] = IndexUse(
          entity: entity.name, index: index.name, uses: try record["uses"].int64Value ?? 0,
          since: try record["since"].dateValue ?? .distantPast,
          lastUsedAt: try record["lastUsedAt"].dateValue)
      }
    }
    return uses
  }
}

/// The uses of an index by fetches.
public struct IndexUse: Codable, Equatable, Sendable {
  public let entity: String
  public let index: String
  /// The fetches since ``since``.
  public let uses: Int64
  public let since: Date
  /// The minute of the last use; `nil` if there was none.
  public let lastUsedAt: Date?
}
