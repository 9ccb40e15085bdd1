import Synchronization
import TestSupport
import Testing

@testable import EntityObjects
@testable import EntityStore

@Suite struct OrderedRowsTests {
  struct Sample: OrderedRow, Equatable {
    let key: EntityObjects.RowKey
    let content: Int
  }

  /// Few sort keys, so that many rows have equal bytes.
  static func key(_ random: inout SeededRandom, keys: Int) -> EntityObjects.RowKey {
    let number = Int.random(in: 0..<keys, using: &random)
    return EntityObjects.RowKey(
      bytes: [[], [0], [0, 255], [1], [127], [128], [128, 0], [255]][number % 8],
      id: Int64(number / 8))
  }

  @Test func keysCompareByUnsignedBytesThenByIdentity() {
    let ascending = [
      EntityObjects.RowKey(bytes: [], id: -5), RowKey(bytes: [], id: 3), RowKey(bytes: [0], id: 0),
      EntityObjects.RowKey(bytes: [0, 0], id: 0), RowKey(bytes: [127], id: 9),
      RowKey(bytes: [128], id: 0),
      EntityObjects.RowKey(bytes: [128], id: 1), RowKey(bytes: [255, 255], id: 0),
    ]
    for (i, left) in ascending.enumerated() {
      for (j, right) in ascending.enumerated() {
        #expect((left < right) == (i < j))
        #expect((left == right) == (i == j))
      }
    }
  }

  @Test(arguments: [1, 2, 3, 4])
  func aTreeEqualsASortedArrayAndOldCopiesStayUnchanged(seed: UInt64) throws {
    var random = SeededRandom(seed: testSeed(seed))
    // Few keys: small trees that fill and empty; many: three levels.
    let keys = seed.isMultiple(of: 2) ? 120 : 9000
    var rows = OrderedRows(ascending: [Sample]())
    var naive: [Sample] = []
    var copies: [(OrderedRows<Sample>, [Sample])] = []
    for round in 0..<12_000 {
      let context: Comment = "seed \(random.seed), round \(round)"
      let sample = Sample(key: Self.key(&random, keys: keys), content: round)
      let place = naive.indices.partitioned { naive[$0].key >= sample.key }
      let present = place < naive.count && naive[place].key == sample.key
      try #require(rows.rank(of: sample.key) == place, context)
      try #require(rows.rankIfPresent(of: sample.key) == (present ? place : nil), context)
      // Times of growth and times of decay.
      if Int.random(in: 0..<10, using: &random) < (round / 3000 % 2 == 0 ? 8 : 2) {
        try #require(rows.insert(sample) == (present ? naive[place] : nil), context)
        if present { naive[place] = sample } else { naive.insert(sample, at: place) }
      } else if Bool.random(using: &random), let victim = naive.randomElement(using: &random) {
        try #require(rows.remove(victim.key) == victim, context)
        naive.removeAll { $0.key == victim.key }
      } else {
        try #require(rows.remove(sample.key) == (present ? naive[place] : nil), context)
        if present { naive.remove(at: place) }
      }
      try #require(rows.count == naive.count, context)
      if round % 600 == 599 { copies.append((rows, naive)) }
      if round % 100 == 99 {
        try #require(Self.isSound(rows.ranked.root, isRoot: true), context)
        try Self.requireEqual(rows, naive, &random, context)
      }
    }
    for (copy, expected) in copies {
      try #require(Array(copy.rows(at: 0..<copy.count)) == expected, "seed \(random.seed)")
    }
  }

  @Test func everySizeIsBuiltFromASortedList() throws {
    for count in [0, 1, 63, 64, 65, 127, 128, 129, 4095, 4096, 4097, 20_000] {
      let samples = (0..<count).map {
        Sample(key: EntityObjects.RowKey(bytes: [7], id: Int64($0)), content: $0)
      }
      let rows = OrderedRows(ascending: samples)
      #expect(Array(rows.rows(at: 0..<count)) == samples)
      #expect(Self.isSound(rows.ranked.root, isRoot: true), "\(count) rows")
    }
  }

  @Test(arguments: [5]) func aChangeAfterACopyCopiesOnlyOnePath(seed: UInt64) throws {
    var random = SeededRandom(seed: testSeed(seed))
    let samples = (0..<100_000).map {
      Sample(key: EntityObjects.RowKey(bytes: [1], id: Int64($0 * 2)), content: 0)
    }
    var rows = OrderedRows(ascending: samples)
    // Narrow leaves, so that joins and splits come.
    for sample in samples where sample.key.id % 5 < 2 { rows.remove(sample.key) }
    let height = Self.height(rows.ranked.root)
    #expect(height == 3)
    for round in 0..<60 {
      let copy = rows
      let id = Int64.random(in: 0..<200_000, using: &random)
      let key = EntityObjects.RowKey(bytes: [1], id: id)
      if round.isMultiple(of: 2) {
        rows.insert(Sample(key: key, content: round))
      } else {
        rows.remove(rows[rows.rank(of: key) % rows.count].key)
      }
      let made = Self.arrays(of: rows.ranked.root).subtracting(Self.arrays(of: copy.ranked.root))
      // One array on each level, and a neighbor of each where two are joined or one is split.
      #expect((1...2 * height).contains(made.count), "seed \(random.seed), round \(round)")
    }
  }

  @Test func unsharedNodesAreChangedInPlace() {
    let samples = (0..<5000).map {
      Sample(key: EntityObjects.RowKey(bytes: [], id: Int64($0)), content: 0)
    }
    var rows = OrderedRows(ascending: samples)
    rows.insert(Sample(key: samples[2500].key, content: 1))
    let before = Self.arrays(of: rows.ranked.root)
    rows.insert(Sample(key: samples[2501].key, content: 1))
    #expect(Self.arrays(of: rows.ranked.root) == before)
  }

  @Test func aRankAmongAHundredThousandRowsTakesSeventeenComparisonsOrSo() {
    let rows = OrderedRows(ascending: (0..<100_000).map { Counted(key: CountedKey(number: $0)) })
    for number in stride(from: 0, to: 100_000, by: 997) {
      CountedKey.comparisons.store(0, ordering: .relaxed)
      #expect(rows.rank(of: CountedKey(number: number)) == number)
      #expect(CountedKey.comparisons.load(ordering: .relaxed) <= 21)
    }
  }

  private struct CountedKey: Comparable, Sendable {
    static let comparisons = Atomic(0)
    let number: Int

    static func < (left: Self, right: Self) -> Bool {
      comparisons.add(1, ordering: .relaxed)
      return left.number < right.number
    }
  }

  private struct Counted: OrderedRow {
    let key: CountedKey
  }
}

extension OrderedRowsTests {
  typealias Node = RankedRows<Sample>.Node

  private static func requireEqual(
    _ rows: OrderedRows<Sample>, _ naive: [Sample], _ random: inout SeededRandom,
    _ context: Comment
  ) throws {
    let ends = (0..<2).map { _ in Int.random(in: 0...naive.count, using: &random) }.sorted()
    try #require(
      Array(rows.rows(at: ends[0]..<ends[1])) == Array(naive[ends[0]..<ends[1]]), context)
    for _ in 0..<5 where !naive.isEmpty {
      let rank = Int.random(in: 0..<naive.count, using: &random)
      try #require(rows[rank] == naive[rank], context)
    }
  }

  /// Returns true if counts are right, every node is wide enough, and all leaves have one depth.
  private static func isSound(_ node: Node, isRoot: Bool) -> Bool {
    guard node.width <= Node.countMax, isRoot || node.width >= Node.countMin else { return false }
    if node.isLeaf { return node.count == node.elements.count }
    return node.elements.isEmpty && node.children.count > 1
      && node.count == node.children.reduce(0) { $0 + $1.count }
      && Set(node.children.map(height)).count == 1
      && node.children.allSatisfy { isSound($0, isRoot: false) }
  }

  private static func height(_ node: Node) -> Int {
    node.isLeaf ? 1 : 1 + height(node.children[0])
  }

  /// The arrays of a version, by address: two versions that are both alive share what has the same.
  private static func arrays(of node: Node) -> Set<UnsafeRawPointer?> {
    guard !node.isLeaf else {
      return [node.elements.withUnsafeBytes { UnsafeRawPointer($0.baseAddress) }]
    }
    let own = node.children.withUnsafeBytes { UnsafeRawPointer($0.baseAddress) }
    return node.children.reduce([own]) { $0.union(arrays(of: $1)) }
  }
}
