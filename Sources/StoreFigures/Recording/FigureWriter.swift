import EntityModel
import EntityStore
import Foundation

/// Adds recorded figures to the records of a store within one transaction.
struct FigureWriter {
  private let transaction: WriteTransaction
  private var feedsLeftOut = 0

  init(_ transaction: WriteTransaction) { self.transaction = transaction }

  /// - Parameter registersIndexes: True to create the records of indexes that have none.
  /// - Returns: The number of feeds that were left out, because there are too many.
  mutating func write(_ pending: PendingFigures, registersIndexes: Bool) throws -> Int {
    try addSlots(pending.minutes)
    for run in pending.feeds.values.sorted(by: { $0.id < $1.id }) { try add(run) }
    for fetch in pending.slowFetches.values.sorted(by: { $0.shape < $1.shape }) { try add(fetch) }
    if registersIndexes { try addUses(pending.uses) }
    return feedsLeftOut
  }

  // MARK: Slots

  private func addSlots(_ minutes: [Int64: SlotFigures]) throws {
    let sorted = minutes.sorted { $0.key < $1.key }
    for resolution in FigureResolution.allCases {
      var slots: [(slot: Int64, figures: SlotFigures)] = []
      for (minute, figures) in sorted {
        let slot = resolution.slot(at: FigureResolution.minute.start(of: minute))
        if slots.last?.slot == slot {
          slots[slots.count - 1].figures.add(figures)
        } else {
          slots.append((slot, figures))
        }
      }
      for (slot, figures) in slots { try add(figures, to: slot, of: resolution) }
    }
  }

  private func add(
    _ figures: SlotFigures, to slot: Int64, of resolution: FigureResolution
  ) throws {
    let key: [String: Value] = [
      "resolution": .string(resolution.rawValue), "slot": .int64(slot),
    ]
    if let id = try transaction.objectID(FigureRecord.entity, by: key) {
      return try transaction.update(id) { record in
        var sum = try record["values"].dataValue.flatMap(SlotFigures.init) ?? SlotFigures()
        sum.add(figures)
        try record.set("values", to: .data(sum.data))
      }
    }
    try transaction.insert(
      FigureRecord.entity, key.merging(["values": .data(figures.data)]) { $1 })
    try removeSlots(of: resolution)
    if resolution == .hour { try removeFeeds() }
  }

  /// Removes slots beyond the number that is kept: those in the future, which a wrong clock has
  /// left, before the oldest ones. So a clock that is wrong for a while replaces no more slots than
  /// it adds.
  private func removeSlots(of resolution: FigureResolution) throws {
    let layout = try transaction.layout(FigureRecord.entity)
    let cursor = try IndexPrefixCursor(
      try layout.index(named: "bySlot"), of: layout, leading: [.string(resolution.rawValue)],
      in: transaction)
    var numbers: [Int64] = []
    while let number = try cursor.next() { numbers.append(number) }
    let last = resolution.slot(at: transaction.now.addingTimeInterval(Limits.clockErrorMax))
    let position = try layout.position(of: "slot")
    while numbers.count > resolution.slotsMax, let newest = numbers.last {
      let slot = try transaction.row(newest, of: layout)?.int64(position) ?? .min
      let number = slot > last ? numbers.removeLast() : numbers.removeFirst()
      try transaction.delete(ObjectID(entity: FigureRecord.entity, number: number))
    }
  }

  // MARK: Feeds

  private mutating func add(_ run: FeedFigures) throws {
    guard try transaction.hasFeed(run.id) else { return }
    let entity = FeedFiguresRecord.entity
    if let id = try transaction.objectID(entity, by: ["feed": .int64(run.id)]) {
      try transaction.update(id) { record in
        var sum = try FeedFigures(record)
        sum.add(run)
        try record.set(sum.values)
      }
    } else if try transaction.count(of: entity) < Limits.feedsMax {
      try transaction.insert(entity, run.values)
    } else {
      feedsLeftOut += 1
    }
  }

  /// Removes the figures of feeds that were removed.
  private func removeFeeds() throws {
    let layout = try transaction.layout(FeedFiguresRecord.entity)
    let position = try layout.position(of: "feed")
    var removed: [Int64] = []
    try transaction.eachRow(of: layout) { row in
      if let feed = row.int64(position), try !transaction.hasFeed(feed) { removed.append(row.id) }
      return true
    }
    for number in removed {
      try transaction.delete(ObjectID(entity: layout.name, number: number))
    }
  }

  // MARK: Fetches

  private func add(_ fetch: SlowFetch) throws {
    let entity = SlowFetchRecord.entity
    if let id = try transaction.objectID(entity, by: ["shape": .int64(fetch.shape)]) {
      return try transaction.update(id) { record in
        var sum = try SlowFetch(record)
        sum.add(fetch)
        try record.set(sum.values)
      }
    }
    try transaction.insert(entity, fetch.values)
    guard try transaction.count(of: entity) > Limits.slowFetchesMax else { return }
    let others = try transaction.fetch(FetchRequest(entityName: entity))
    // In either direction: a wrong clock may have been in the future.
    let now = transaction.now
    let oldest = try others.max { left, right in
      try left.distance(from: now) < right.distance(from: now)
    }
    if let oldest { try transaction.delete(oldest.id) }
  }

  /// Adds uses to the records of the indexes, of which each index of a program's entity gets one.
  private func addUses(_ uses: [Int: (count: Int, at: Date)]) throws {
    let indexes = transaction.schema.countedIndexes
    var known: Set<Int64> = []
    for record in try transaction.fetch(FetchRequest(entityName: IndexUseRecord.entity)) {
      let number = try record["index"].int64Value ?? 0
      guard indexes.contains(number) else {
        try transaction.delete(record.id)
        continue
      }
      known.insert(number)
      guard let use = uses[Int(number)] else { continue }
      try transaction.update(record.id) { record in
        let count = try record["uses"].int64Value ?? 0
        try record.set("uses", to: .int64(min(Limits.countMax, count + Int64(use.count))))
        try record.set("lastUsedAt", to: .date(use.at.minute))
      }
    }
    for number in indexes.subtracting(known).sorted() {
      let use = uses[Int(number)]
      try transaction.insert(
        IndexUseRecord.entity,
        [
          "index": .int64(number), "uses": .int64(Int64(use?.count ?? 0)),
          "since": .date(transaction.now),
          "lastUsedAt": use.map { .date($0.at.minute) } ?? .null,
        ])
    }
  }
}

extension Schema {
  /// The numbers of the indexes whose uses are counted: those of the entities of programs.
  var countedIndexes: Set<Int64> {
    let numbers = entities.filter { !$0.isSystem }.flatMap(\.indexes).map { Int64($0.id) }
    return Set(numbers.sorted().prefix(Limits.indexesMax))
  }
}

extension ReadTransaction {
  /// True if an index has no record of its uses.
  var hasUnknownIndexes: Bool {
    get throws { try count(of: IndexUseRecord.entity) != schema.countedIndexes.count }
  }

  /// Returns true unless the feed was removed.
  fileprivate func hasFeed(_ number: Int64) throws -> Bool {
    guard let layout = catalog.entities["_Feed"] else { return true }
    guard let row = try row(number, of: layout) else { return false }
    return try row.value(try layout.position(of: "isRemoved")) != .bool(true)
  }
}

extension Record {
  fileprivate func distance(from time: Date) throws -> Double {
    abs(try self["lastAt"].dateValue?.timeIntervalSince(time) ?? .infinity)
  }
}

extension Date {
  /// The beginning of the minute.
  fileprivate var minute: Date {
    FigureResolution.minute.start(of: FigureResolution.minute.slot(at: self))
  }
}
