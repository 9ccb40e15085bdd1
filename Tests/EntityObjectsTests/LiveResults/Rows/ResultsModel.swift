import EntityModel
import TestSupport

@testable import EntityObjects
@testable import EntityStore

/// A naive list of records from which each version of the results is built from the start.
struct ResultsModel {
  struct Record: Equatable {
    let id: Int64
    /// The first byte of the sort key; it decides the section.
    var group: UInt8
    var place: UInt8
    var content: Int64
  }

  var records: [Int64: Record] = [:]
  /// The section of each group. Those that are named alike must be neighbors.
  var names: [Value]
  var isSectioned: Bool
  var window = ResultsWindow()
  private var nextID: Int64 = 1
  private var nextContent: Int64 = 1

  init(groups: Int, isSectioned: Bool) {
    names = (0..<groups).map { $0 == 0 ? .null : .string("section \($0)") }
    self.isSectioned = isSectioned
  }

  func row(_ record: Record) -> LiveRow<Int64> {
    LiveRow(
      id: ObjectID(entity: "Sample", number: record.id),
      section: isSectioned ? names[Int(record.group)] : .null, value: record.content,
      key: EntityObjects.RowKey(bytes: [record.group, record.place], id: record.id),
      contentHash: record.content)
  }

  /// All rows, sorted.
  var rows: [LiveRow<Int64>] {
    records.values.sorted {
      ($0.group, $0.place, $0.id) < ($1.group, $1.place, $1.id)
    }.map(row)
  }

  var visible: [LiveRow<Int64>] {
    Array(rows.dropFirst(window.offset).prefix(window.limit ?? .max))
  }

  var snapshot: ResultsSnapshot<Int64> {
    ResultsSnapshot(
      WindowedRows(
        rows: OrderedRows(ascending: rows), window: window, isSectioned: isSectioned))
  }

  /// The rows that changed since `old`, as a store reports them.
  func transitions(since old: ResultsModel) -> [RowTransition<EntityObjects.RowKey>] {
    Set(records.keys).union(old.records.keys).sorted().compactMap { id in
      let (before, after) = (old.records[id].map(old.row), records[id].map(row))
      return before == after ? nil : RowTransition(from: before?.key, to: after?.key)
    }
  }
}

extension ResultsModel {
  @discardableResult
  mutating func insert(group: Int, place: Int) -> Int64 {
    defer { nextID += 1 }
    nextContent += 1
    records[nextID] = Record(
      id: nextID, group: UInt8(group), place: UInt8(place), content: nextContent)
    return nextID
  }

  /// Changes a record; its content always becomes another.
  mutating func change(_ id: Int64, _ change: (inout Record) -> Void = { _ in }) {
    guard var record = records[id] else { return }
    nextContent += 1
    record.content = nextContent
    change(&record)
    records[id] = record
  }

  /// A few changes, or one that concerns many rows.
  mutating func changeAtRandom(_ random: inout SeededRandom) {
    let ids = records.keys.sorted()
    switch Int.random(in: 0..<60, using: &random) {
    case 0: records = [:]
    case 1:
      let group = random.number(below: names.count)
      records = records.filter { $0.value.group != group }
    case 2: names.swapAt(random.number(below: names.count), random.number(below: names.count))
    case 3:
      // Two groups change their places: their rows move, and so do their sections.
      let (a, b) = (random.number(below: names.count), random.number(below: names.count))
      names.swapAt(a, b)
      for id in ids {
        switch Int(records[id]?.group ?? 0) {
        case a: change(id) { $0.group = UInt8(b) }
        case b: change(id) { $0.group = UInt8(a) }
        default: continue
        }
      }
    case 4: for id in ids { change(id) { $0.place = UInt8(random.number(below: 6)) } }
    case 5...7:
      window.offset = random.number(below: 12)
      window.limit = Bool.random(using: &random) ? nil : random.number(below: 25)
    case 8...15:
      let rows = visible
      guard rows.count > 1 else { return }
      let first = random.number(below: rows.count - 1)
      let (a, b) = (rows[first].key.id, rows[first + 1].key.id)
      guard let left = records[a], let right = records[b] else { return }
      change(a) { ($0.group, $0.place) = (right.group, right.place) }
      change(b) { ($0.group, $0.place) = (left.group, left.place) }
    default:
      for _ in 0...random.number(below: 6) { changeOne(ids.randomElement(using: &random), &random) }
    }
  }

  private mutating func changeOne(_ id: Int64?, _ random: inout SeededRandom) {
    let (group, place) = (random.number(below: names.count), random.number(below: 6))
    switch (random.number(below: 8), id) {
    case (0...1, _), (_, nil): insert(group: group, place: place)
    case (2...3, let id?): records[id] = nil
    case (4, let id?): change(id)
    case (5, let id?): change(id) { $0.group = UInt8(group) }
    case (_, let id?): change(id) { $0.place = UInt8(place) }
    }
  }
}

extension SeededRandom {
  fileprivate mutating func number(below bound: Int) -> Int {
    Int.random(in: 0..<bound, using: &self)
  }
}

/// A collection view's idea of a batch of updates, with nothing but nested arrays.
struct NaiveCollectionView: Equatable {
  var sections: [(name: Value, rows: [LiveRow<Int64>])]

  init(_ snapshot: ResultsSnapshot<Int64>) {
    sections = snapshot.sections.indices.map { section in
      (snapshot.sections[section].name, Array(snapshot.rows(inSection: section)))
    }
  }

  static func == (left: Self, right: Self) -> Bool {
    left.sections.map(\.name) == right.sections.map(\.name)
      && left.sections.map(\.rows) == right.sections.map(\.rows)
  }

  /// - Returns: `nil` where a view would refuse the batch.
  func performing(_ difference: ResultsDifference<Int64>) -> Self? {
    var gone: Set<ResultsIndex> = []
    var arriving: [(ResultsIndex, LiveRow<Int64>)] = []
    var updated: [(from: ResultsIndex, to: ResultsIndex, LiveRow<Int64>)] = []
    for change in difference.rows {
      switch change {
      case .delete(let at, let id):
        guard row(at: at)?.id == id, gone.insert(at).inserted else { return nil }
      case .move(let from, let to, let row):
        guard self.row(at: from)?.id == row.id, gone.insert(from).inserted else { return nil }
        arriving.append((to, row))
      case .insert(let at, let row): arriving.append((at, row))
      case .update(let at, let to, let row):
        guard self.row(at: at)?.id == row.id else { return nil }
        updated.append((at, to, row))
      }
    }
    guard gone.isDisjoint(with: updated.map(\.from)) else { return nil }
    var next = self
    for index in gone.sorted(by: >) { next.sections[index.section].rows.remove(at: index.item) }
    guard next.change(difference.sections) else { return nil }
    for (index, row) in arriving.sorted(by: { $0.0 < $1.0 }) {
      guard next.sections.indices ~= index.section,
        0...next.sections[index.section].rows.count ~= index.item
      else { return nil }
      next.sections[index.section].rows.insert(row, at: index.item)
    }
    for (_, index, row) in updated {
      guard next.row(at: index)?.id == row.id else { return nil }
      next.sections[index.section].rows[index.item] = row
    }
    return next
  }

  private mutating func change(_ changes: [SectionChange]) -> Bool {
    var deleted: [Int: Value] = [:]
    var inserted: [Int: Value] = [:]
    for change in changes {
      switch change {
      case .delete(let at, let name): deleted[at] = name
      case .insert(let at, let name): inserted[at] = name
      }
    }
    for (place, name) in deleted.sorted(by: { $0.key > $1.key }) {
      guard sections.indices ~= place, sections[place].name == name, sections[place].rows.isEmpty
      else { return false }
      sections.remove(at: place)
    }
    for (place, name) in inserted.sorted(by: { $0.key < $1.key }) {
      guard 0...sections.count ~= place else { return false }
      sections.insert((name, []), at: place)
    }
    return true
  }

  private func row(at index: ResultsIndex) -> LiveRow<Int64>? {
    guard sections.indices ~= index.section,
      sections[index.section].rows.indices ~= index.item
    else { return nil }
    return sections[index.section].rows[index.item]
  }
}
