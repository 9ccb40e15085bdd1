import EntityModel

/// The plan of a fetch and the numbers of entries and records it has read. `explain` returns it.
///
/// As JSON it is an object of these keys, all of them always there:
///
/// | key | value |
/// |---|---|
/// | `entity` | the name of the entity |
/// | `kinds` | the names of `PlanKind` that apply, in alphabetical order |
/// | `indexes` | of each that is read: `name`, `keys`, `range`, `rangeCount`, `isReversed` |
/// | `filter` | the predicate that is checked on each record or entry, or null |
/// | `sortBy`, `groupBy` | texts, empty without |
/// | `limit`, `offset` | numbers; a limit of 0 is none |
/// | `rejected` | of each index that was not taken: `index`, `reason` |
/// | `statistics` | `entriesRead`, `recordsRead`, `rowsReturned`; null of a plan that was not run |
public struct FetchPlan: Codable, Hashable, Sendable, CustomStringConvertible {
  public var entity: String
  /// All parts of the plan, from the access to the window.
  public var kinds: Set<PlanKind>
  /// The indexes that are read: none for a scan, several for a union.
  public var indexes: [IndexUse]
  /// The predicate that is checked on each record or entry; `nil` if the ranges cover it.
  public var filter: String?
  public var sortBy: String
  public var groupBy: String
  /// The limit of the request; `nil` without one.
  public var limit: Int?
  public var offset: Int
  /// The reasons why the other indexes were not taken.
  public var rejected: [Rejection]
  /// The number of entries and records that were read; `nil` for a plan that was not run.
  public var statistics: FetchStatistics?

  /// One index and the part of it that is read.
  public struct IndexUse: Codable, Hashable, Sendable {
    public var name: String
    /// The keys of the index as a migration file writes them.
    public var keys: String
    /// The parts of the predicate that the ranges come from; empty if all entries are read.
    public var range: [String]
    public var rangeCount: Int
    public var isReversed: Bool
  }

  /// An index that the plan does not use, and the reason.
  public struct Rejection: Codable, Hashable, Sendable {
    public var index: String
    public var reason: String
  }

  /// True if all matching records are sorted in memory before the window is taken.
  public var sortsInMemory: Bool { kinds.contains(.sortInMemory) }

  private enum CodingKeys: String, CodingKey {
    case entity, kinds, indexes, filter, sortBy, groupBy, limit, offset, rejected, statistics
  }

  /// Writes the kinds in alphabetical order, so that equal plans have equal texts.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(entity, forKey: .entity)
    try container.encode(kinds.sorted(), forKey: .kinds)
    try container.encode(indexes, forKey: .indexes)
    try container.encode(filter, forKey: .filter)
    try container.encode(sortBy, forKey: .sortBy)
    try container.encode(groupBy, forKey: .groupBy)
    try container.encode(limit ?? 0, forKey: .limit)
    try container.encode(offset, forKey: .offset)
    try container.encode(rejected, forKey: .rejected)
    try container.encode(statistics, forKey: .statistics)
  }

  public var description: String {
    var lines = ["fetch \(entity)"]
    if kinds.contains(.nothing) { lines.append("  nothing: the predicate is never true") }
    if kinds.contains(.scan) { lines.append("  scan every record") }
    if kinds.contains(.identifiers) { lines.append("  records by identity") }
    if kinds.contains(.countOnly), indexes.isEmpty { lines.append("  the count of all records") }
    for index in indexes { lines += text(of: index) }
    if kinds.contains(.endOfIndex) { lines.append("  first and last entries only") }
    if kinds.contains(.indexOnly) { lines.append("  from the index alone") }
    if let filter { lines.append("  filter \(filter)") }
    if !groupBy.isEmpty { lines.append("  group by \(groupBy)") }
    if !sortBy.isEmpty {
      lines.append("  sort \(sortBy)\(sortsInMemory ? ", in memory" : ", by the access")")
    }
    if let limit { lines.append("  limit \(limit)") }
    if offset > 0 { lines.append("  offset \(offset)") }
    for rejection in rejected { lines.append("  not \(rejection.index): \(rejection.reason)") }
    if let statistics { lines.append("  \(statistics)") }
    return lines.joined(separator: "\n")
  }

  private func text(of index: IndexUse) -> [String] {
    var how = ""
    if kinds.contains(.skipScan) { how += ", skipping from one first value to the next" }
    if index.isReversed { how += ", backward" }
    var lines = ["  index \(index.name) (\(index.keys))\(how)"]
    let range = index.range.isEmpty ? "all entries" : index.range.joined(separator: " AND ")
    let count = index.rangeCount == 1 ? "" : "\(index.rangeCount) ranges"
    let merged = kinds.contains(.mergedRanges) ? ", merged" : ""
    lines.append("  range \(range)" + (count.isEmpty ? "" : " (\(count)\(merged))"))
    return lines
  }
}

/// The parts that a plan can consist of.
public enum PlanKind: String, Codable, Hashable, Sendable, CaseIterable, Comparable {
  /// The predicate is never true, so that nothing is read.
  case nothing
  /// Every record, in order of record id.
  case scan
  /// Records by their identities.
  case identifiers
  /// One range of an index.
  case indexRange
  /// Several ranges of an index, read one after the other.
  case severalRanges
  /// Several ranges of an index merged into one order.
  case mergedRanges
  /// An index whose first part is not in the request.
  case skipScan
  /// Several indexes, one for each side of an `OR`.
  case union
  /// An index on a list.
  case listElements
  /// The values come from the keys, and no record is read.
  case indexOnly
  /// Entries are counted and not read.
  case countOnly
  /// The minimum or maximum is read from the first or the last entry.
  case endOfIndex
  /// A part of the predicate is checked on each record or entry.
  case filter
  /// Records are sorted in memory.
  case sortInMemory
  /// Rows are collected into groups or aggregates.
  case groups

  public static func < (left: PlanKind, right: PlanKind) -> Bool {
    left.rawValue < right.rawValue
  }
}

/// The numbers of entries and records that a fetch has read, and of rows that it has returned.
public struct FetchStatistics: Codable, Hashable, Sendable, CustomStringConvertible {
  public var entriesRead = 0
  public var recordsRead = 0
  public var rowsReturned = 0

  public init() {}

  public var description: String {
    "read \(entriesRead) \(entriesRead == 1 ? "entry" : "entries"), "
      + "\(recordsRead) \(recordsRead == 1 ? "record" : "records"); "
      + "returned \(rowsReturned) \(rowsReturned == 1 ? "row" : "rows")"
  }

  mutating func add(_ other: FetchStatistics) {
    entriesRead += other.entriesRead
    recordsRead += other.recordsRead
  }
}

extension FetchPlan {
  /// Reads a plan, in which a limit of 0 is none.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    entity = try container.decode(String.self, forKey: .entity)
    kinds = try container.decode(Set<PlanKind>.self, forKey: .kinds)
    indexes = try container.decode([IndexUse].self, forKey: .indexes)
    filter = try container.decodeIfPresent(String.self, forKey: .filter)
    sortBy = try container.decode(String.self, forKey: .sortBy)
    groupBy = try container.decode(String.self, forKey: .groupBy)
    limit = try container.decode(Int.self, forKey: .limit).unlessZero
    offset = try container.decode(Int.self, forKey: .offset)
    rejected = try container.decode([Rejection].self, forKey: .rejected)
    statistics = try container.decodeIfPresent(FetchStatistics.self, forKey: .statistics)
  }

  init(_ request: FetchRequest, _ plan: AccessPlan, _ entity: EntityLayout) {
    self.init(
      entity: request.entityName, kinds: plan.kinds, indexes: plan.indexUses(entity),
      filter: FetchPredicate.joined(plan.filtered),
      sortBy: request.sortBy.map(\.description).joined(separator: ", "),
      groupBy: request.propertiesToGroupBy.joined(separator: ", "), limit: request.fetchLimit,
      offset: request.fetchOffset,
      rejected: plan.rejected.map {
        Rejection(index: $0.index.description.name, reason: $0.reason.text)
      }
        + entity.deferredIndexes.map {
          Rejection(index: $0.name, reason: "set aside by a load and not built again yet")
        })
    if request.isGrouped { kinds.insert(.groups) }
  }
}

extension AccessPlan.Rejection.Reason {
  fileprivate var text: String {
    switch self {
    case .unfit(let reason): "\(reason)"
    case .costs(let cost, let taken): PlanCosts.words(cost, over: taken)
    }
  }
}

extension AccessPlan {
  fileprivate var kinds: Set<PlanKind> {
    var kinds: Set<PlanKind> = []
    switch access {
    case .nothing: kinds.insert(.nothing)
    case .scan: kinds.insert(.scan)
    case .identifiers: kinds.insert(.identifiers)
    case .index(let access):
      if case .merged = access.order, access.ranges.count > 1 {
        kinds.insert(.mergedRanges)
      } else {
        kinds.insert(access.ranges.count == 1 ? .indexRange : .severalRanges)
      }
      if isSkipScan { kinds.insert(.skipScan) }
      if access.index.listPart != nil { kinds.insert(.listElements) }
    case .union: kinds.insert(.union)
    }
    if isIndexOnly { kinds.insert(.indexOnly) }
    if filter != nil { kinds.insert(.filter) }
    if !sort.isEmpty { kinds.insert(.sortInMemory) }
    return kinds
  }

  fileprivate func indexUses(_ entity: EntityLayout) -> [FetchPlan.IndexUse] {
    access.indexes.map { access in
      FetchPlan.IndexUse(
        name: access.index.description.name,
        keys: entity.description.keyText(of: access.index.description),
        range: used.map(\.description),
        rangeCount: access.ranges.count, isReversed: access.isReversed)
    }
  }
}
