import LMDB
import SystemSupport
import TestSupport
import Testing

/// Random histories against a dictionary: whatever the trees went through, they hold what the
/// model holds, in its order, both ways.
@Suite struct HistoryTests {
  @Test(arguments: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10] as [UInt64])
  func aRandomHistoryEndsWhereItsModelDoes(seed: UInt64) throws {
    try withStore(
      options: .init(mapSize: 1 << 30, createIfMissing: true, flushesCommits: false)
    ) { environment in
      var random = SeededRandom(seed: seed)
      let tree = try environment.makeTree()
      var model: [[UInt8]: [UInt8]] = [:]
      for _ in 0..<30 {
        try environment.write { transaction in
          try change(tree, in: transaction, &model, &random, depth: 0)
        }
      }
      try environment.read { transaction in
        try compare(transaction, tree, model, &random, seed: seed)
      }
      let report = try PageFile.verify(folder: environment.folder, snapshotOf: environment)
      #expect(report.problems.isEmpty && report.pagesLost == 0, "seed \(seed): \(report)")
    }
  }

  /// A run of puts, deletes and nested runs of them, some of which are undone; half of them with a
  /// place that is kept from the middle of it.
  private func change(
    _ tree: Tree, in transaction: TreeWriter, _ model: inout [[UInt8]: [UInt8]],
    _ random: inout SeededRandom, depth: Int
  ) throws {
    let keepsPlace = Bool.random(using: &random)
    for number in 0..<Int.random(in: 1...40, using: &random) {
      if keepsPlace, number >= 5 { try transaction.pinCursor(in: tree) }
      let key = random.bytes(count: Int.random(in: 1...3, using: &random)).map { $0 & 15 }
      switch Int.random(in: 0..<10, using: &random) {
      case 0..<5:
        // Up to two pages, so that some values get overflow pages.
        let size = Int.random(in: 0..<(Bool.random(using: &random) ? 40 : 8_000), using: &random)
        let value = [UInt8](repeating: UInt8(truncatingIfNeeded: random.next()), count: size)
        try transaction.put(tree, key: key, value: value)
        model[key] = value
      case 5..<7:
        try #expect(transaction.delete(tree, key: key) == (model.removeValue(forKey: key) != nil))
      case 7 where Int.random(in: 0..<20, using: &random) == 0:
        try transaction.empty(tree)
        model = [:]
      case 7:
        var cursor = try transaction.cursor(tree)
        for _ in 0..<3 {
          guard let entry = try cursor.seek(atLeast: key) else { break }
          model[Array(entry.key)] = nil
          try cursor.deleteCurrent()
        }
      case 8 where depth < 2:
        var inner = model
        let undone = Bool.random(using: &random)
        do {
          try transaction.nested { child in
            try change(tree, in: child, &inner, &random, depth: depth + 1)
            if undone { throw CancellationError() }
          }
          model = inner
        } catch is CancellationError {}
      default:
        try #expect(transaction.get(tree, key).map(Array.init) == model[key])
      }
    }
  }

  private func compare(
    _ transaction: TreeReader, _ tree: Tree, _ model: [[UInt8]: [UInt8]],
    _ random: inout SeededRandom, seed: UInt64
  ) throws {
    let sorted = model.keys.sorted { $0.lexicographicallyPrecedes($1) }
    try #expect(transaction.count(tree) == sorted.count)
    var cursor = try transaction.cursor(tree)
    var forward: [[UInt8]] = []
    while let entry = try cursor.next() {
      forward.append(Array(entry.key))
      #expect(model[Array(entry.key)].map { $0.elementsEqual(entry.value) } == true)
    }
    #expect(forward == sorted, "seed \(seed)")
    var backward: [[UInt8]] = []
    var entry = try cursor.last()
    while let found = entry {
      backward.append(Array(found.key))
      entry = try cursor.previous()
    }
    #expect(backward == sorted.reversed(), "seed \(seed)")
    for _ in 0..<300 {
      let key = random.bytes(count: Int.random(in: 0...3, using: &random)).map { $0 & 15 }
      let above = sorted.firstIndex { !$0.lexicographicallyPrecedes(key) } ?? sorted.count
      let atLeast = try cursor.seek(atLeast: key).map { Array($0.key) }
      #expect(atLeast == (above < sorted.count ? sorted[above] : nil), "seed \(seed), \(key)")
      let below = try cursor.seek(below: key).map { Array($0.key) }
      #expect(below == (above > 0 ? sorted[above - 1] : nil), "seed \(seed), \(key)")
      let exactly = try cursor.seek(exactly: key).map { Array($0.value) }
      #expect(exactly == model[key], "seed \(seed), \(key)")
    }
  }
}
