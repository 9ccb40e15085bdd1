import EntityModel
import TestSupport
import Testing

@testable import EntityObjects
@testable import EntityStore

/// Random versions of results, compared with versions that are built from the start.
@Suite struct ResultsDifferenceTests {
  @Test(arguments: [1, 2, 3, 4, 5, 6])
  func applyingADifferenceToTheOldVersionGivesTheNewOne(seed: UInt64) throws {
    var random = SeededRandom(seed: testSeed(seed))
    for series in 0..<20 {
      var model = ResultsModel(
        groups: [1, 3, 8][series % 3], isSectioned: series % 4 != 0)
      for _ in 0..<Int.random(in: 0..<60, using: &random) {
        model.insert(
          group: Int.random(in: 0..<model.names.count, using: &random),
          place: Int.random(in: 0..<6, using: &random))
      }
      if series.isMultiple(of: 2) { model.window = ResultsWindow(offset: series / 2, limit: 12) }
      var snapshot = model.snapshot
      var mirror = snapshot
      for round in 0..<80 {
        let context: Comment = "seed \(random.seed), series \(series), round \(round)"
        let old = model
        model.changeAtRandom(&random)
        let transitions = model.transitions(since: old)
        let rows = Self.rows(snapshot.windowed.rows, after: transitions, in: model)
        let (next, difference) = snapshot.advanced(
          to: rows, window: model.window, by: transitions.shuffled(using: &random))

        try #require(next == model.snapshot, context)
        mirror = try mirror.applying(difference)
        try #require(mirror == next, context)
        let view = NaiveCollectionView(snapshot).performing(difference)
        try #require(view == NaiveCollectionView(next), context)
        try Self.requireMinimal(difference, from: old, to: model, snapshot, next, context)
        // A fetch of everything finds the same changes by itself.
        let again = snapshot.refetched(as: rows, window: model.window)
        try #require(again.snapshot == next && again.difference == difference, context)
        snapshot = next
      }
    }
  }

  /// The rows after the changes, produced by changes of the tree, as in live results.
  private static func rows(
    _ rows: OrderedRows<LiveRow<Int64>>, after transitions: [RowTransition<RowKey>],
    in model: ResultsModel
  ) -> OrderedRows<LiveRow<Int64>> {
    var rows = rows
    for key in transitions.compactMap(\.from) { rows.remove(key) }
    for id in transitions.compactMap(\.to?.id) {
      if let record = model.records[id] { rows.insert(model.row(record)) }
    }
    return rows
  }

  /// Each row is reported at most once, with its kind of change; an unchanged row in both versions
  /// is never reported.
  private static func requireMinimal(
    _ difference: ResultsDifference<Int64>, from old: ResultsModel, to new: ResultsModel,
    _ before: ResultsSnapshot<Int64>, _ after: ResultsSnapshot<Int64>, _ context: Comment
  ) throws {
    let left = Dictionary(uniqueKeysWithValues: before.map { ($0.id, $0) })
    let right = Dictionary(uniqueKeysWithValues: after.map { ($0.id, $0) })
    var mentioned: Set<ObjectID> = []
    for change in difference.rows {
      let id: ObjectID
      switch change {
      case .delete(let at, let gone):
        id = gone
        try #require(before[at].id == id && right[id] == nil, context)
      case .insert(let at, let row):
        id = row.id
        try #require(after[at] == row && left[id] == nil, context)
      case .move(let from, let to, let row):
        id = row.id
        try #require(before[from].id == id && after[to] == row, context)
        try #require(left[id]?.key != row.key || left[id]?.section != row.section, context)
      case .update(let at, let to, let row):
        id = row.id
        try #require(before[at].id == id && after[to] == row, context)
        try #require(left[id]?.section == row.section && left[id] != row, context)
      }
      try #require(mentioned.insert(id).inserted, context)
    }
    for (id, row) in left where right[id] != row { try #require(mentioned.contains(id), context) }
    for (id, row) in right where left[id] == row { try #require(!mentioned.contains(id), context) }
    for id in right.keys where left[id] == nil { try #require(mentioned.contains(id), context) }
  }

  @Test func theVersionsOfASnapshotAnswerByPositionIndexAndIdentity() throws {
    var model = ResultsModel(groups: 4, isSectioned: true)
    for number in 0..<300 { model.insert(group: [0, 1, 3][number % 3], place: number % 6) }
    model.window = ResultsWindow(offset: 50, limit: 200)
    let snapshot = model.snapshot
    #expect(snapshot.sections.map(\.count) == [50, 100, 50])
    #expect(Array(snapshot) == model.visible)
    for (position, row) in model.visible.enumerated() {
      let index = snapshot.index(ofPosition: position)
      #expect(snapshot[position] == row && snapshot[index] == row)
      #expect(snapshot.index(of: row.id) == index)
    }
    #expect(
      snapshot.rows(inSection: 1).map(\.section) == [Value](repeating: "section 1", count: 100))
    #expect(snapshot.index(of: ObjectID(entity: "Sample", number: 9999)) == nil)
  }

  @Test func windowsAreCutToTheRowsThereAre() {
    #expect(ResultsWindow().range(of: 5) == 0..<5)
    #expect(ResultsWindow(offset: 3, limit: 9).range(of: 5) == 3..<5)
    #expect(ResultsWindow(offset: .max, limit: .max).range(of: 5) == 5..<5)
    #expect(ResultsWindow(offset: 1, limit: 0).range(of: 5) == 1..<1)
    #expect(ResultsWindow(offset: -1, limit: -1).range(of: 5) == 0..<0)
  }

  @Test func aDifferenceOfOtherResultsIsRefused() throws {
    var model = ResultsModel(groups: 2, isSectioned: true)
    let ids = (0..<4).map { model.insert(group: $0 % 2, place: 0) }
    let first = model.snapshot
    model.records[ids[1]] = nil
    model.records[ids[3]] = nil
    let second = first.refetched(as: model.snapshot.windowed.rows, window: model.window)
    #expect(try first.applying(second.difference) == second.snapshot)
    #expect(throws: StoreError.self) { try second.snapshot.applying(second.difference) }
    #expect(throws: StoreError.self) {
      try ResultsModel(groups: 1, isSectioned: true).snapshot.applying(second.difference)
    }
  }

  @Test func longestAscendingSubsequencesAreAscendingAndLongest() {
    #expect(longestAscending([]) == [])
    #expect(longestAscending([3, 1, 2]) == [1, 2])
    var random = SeededRandom(seed: testSeed(7))
    for _ in 0..<300 {
      let numbers = Array(0..<Int.random(in: 1..<11, using: &random)).shuffled(using: &random)
      let found = longestAscending(numbers)
      #expect(
        found == found.sorted() && found.map { numbers[$0] } == found.map { numbers[$0] }.sorted())
      // The longest that ends at each place, by looking at all before it.
      var lengths: [Int] = []
      for (place, number) in numbers.enumerated() {
        lengths.append(
          1 + ((0..<place).filter { numbers[$0] < number }.map { lengths[$0] }.max() ?? 0))
      }
      #expect(found.count == lengths.max(), "seed \(random.seed): \(numbers)")
    }
  }
}
