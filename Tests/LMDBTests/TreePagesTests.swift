import Foundation
import TestSupport
import Testing

@testable import LMDB

/// Reads of the pages themselves equal those of LMDB.
@Suite struct TreePagesTests {
  @Test("Any tree of integer keys, after any writes and deletions", arguments: [1, 2] as [UInt64])
  func anyTree(seed: UInt64) throws {
    try withStore { environment in
      var random = SeededRandom(seed: seed)
      let tree = try Self.makeTree(in: environment)
      var rows: [UInt64: [UInt8]] = [:]
      let none = try environment.read { try Self.leafEntries(of: tree, in: $0) }
      #expect(none.isEmpty)
      for round in 0..<8 {
        try environment.write { transaction in
          for _ in 0..<300 {
            let number = random.next() % 10_000
            rows[number] = Self.value(using: &random)
            try Self.put(rows[number] ?? [], number, tree, in: transaction)
          }
          for number in rows.keys.sorted().shuffled(using: &random).prefix(round * 30) {
            rows[number] = nil
            try withUnsafeBytes(of: number) { _ = try transaction.delete(tree, key: Array($0)) }
          }
        }
        let sorted = rows.sorted { $0.key < $1.key }
        try environment.read { transaction in
          let found = try Self.leafEntries(of: tree, in: transaction)
          try #require(found.map(\.number) == sorted.map(\.key), "seed \(seed), round \(round)")
          try #require(found.map(\.value) == sorted.map(\.value), "seed \(seed), round \(round)")
          let numbers = (0..<40).map { _ in random.next() % 10_001 }
          let values = try transaction.get(tree, numbers: numbers).map { $0.map(Array.init) }
          try #require(values == numbers.map { rows[$0] }, "seed \(seed), round \(round)")
          for _ in 0..<300 {
            let number = random.next() % 10_001
            let value = try transaction.get(tree, number: number).map(Array.init)
            try #require(value == rows[number], "seed \(seed), round \(round): \(number)")
          }
        }
      }
    }
  }

  @Test("A cursor moves as in a sorted list", arguments: [1, 2] as [UInt64])
  func cursorMoves(seed: UInt64) throws {
    try withStore { environment in
      var random = SeededRandom(seed: seed)
      let tree = try Self.makeTree(in: environment)
      var rows: [UInt64: [UInt8]] = [:]
      try environment.write { transaction in
        for _ in 0..<1_500 {
          let number = random.next() % 10_000
          rows[number] = Self.value(using: &random)
          try Self.put(rows[number] ?? [], number, tree, in: transaction)
        }
      }
      let sorted = rows.sorted { $0.key < $1.key }
      try environment.read { transaction in
        var cursor = try transaction.cursor(tree)
        var place = 0
        #expect(try cursor.first() != nil)
        for move in 0..<4_000 {
          var found: Cursor.Entry?
          // Several moves in one direction, so that they cross pages.
          switch move % 200 {
          case 0:
            let start = random.next() % 10_000
            place = sorted.firstIndex { $0.key >= start } ?? sorted.count - 1
            found = try withUnsafeBytes(of: start) { try cursor.seek(atLeast: $0) }
            if found == nil { found = try cursor.last() }
          case 1..<80:
            place += 1
            found = try cursor.next()
          case 80..<190:
            place -= 1
            found = try cursor.previous()
          default:
            let isForward = Bool.random(using: &random)
            place += isForward ? 1 : -1
            found = isForward ? try cursor.next() : try cursor.previous()
          }
          guard sorted.indices.contains(place) else {
            try #require(found == nil, "seed \(seed), move \(move)")
            place = max(0, min(place, sorted.count - 1))
            continue
          }
          let entry = try #require(found, "seed \(seed), move \(move)")
          try #require(
            entry.key.loadUnaligned(as: UInt64.self) == sorted[place].key
              && Array(entry.value) == sorted[place].value, "seed \(seed), move \(move)")
        }
      }
    }
  }

  @Test func aSnapshotIsReadAndNotLaterCommits() throws {
    try withStore { environment in
      let tree = try Self.makeTree(in: environment)
      try environment.write { transaction in
        for number in 0..<500 as Range<UInt64> { try Self.put([1], number, tree, in: transaction) }
      }
      let snapshot = try environment.beginRead()
      defer { environment.endRead(snapshot) }
      try environment.write { transaction in
        for number in 0..<500 as Range<UInt64> { try Self.put([2], number, tree, in: transaction) }
      }
      let entries = try Self.leafEntries(of: tree, in: snapshot)
      #expect(entries.count == 500 && entries.allSatisfy { $0.value == [1] })
      for number in 0..<500 as Range<UInt64> {
        let value = try snapshot.get(tree, number: number).map(Array.init)
        #expect(value == [1])
      }
    }
  }

  @Test("Pages that are overwritten under a snapshot give values in the map or nil, and no crash")
  func overwrittenPages() throws {
    try withTemporaryFolder { folder in
      let environment = try Environment.open(
        at: folder.path("store"), options: .init(mapSize: 1 << 30, createIfMissing: true))
      let tree = try Self.makeTree(in: environment, named: "treeOfTheTest")
      var random = SeededRandom(seed: 9)
      try environment.write { transaction in
        for number in 0..<3_000 as Range<UInt64> {
          try Self.put(Self.value(using: &random), number, tree, in: transaction)
        }
      }
      let url = URL(fileURLWithPath: environment.folder + "/data.mdb")
      let sound = try [UInt8](Data(contentsOf: url))
      let file = try FileHandle(forUpdating: url)
      defer { try? file.close() }
      let name = Data("treeOfTheTest".utf8)
      // Not the meta pages and the tree of trees, which LMDB itself reads.
      let pages = (2..<sound.count / 4_096).filter { page in
        Data(sound[page * 4_096..<(page + 1) * 4_096]).range(of: name) == nil
      }
      var (found, missed) = (0, 0)
      try environment.read { transaction in
        let record = try #require(try environment.record(of: tree.name, in: transaction))
        let direct = try #require(TreePages(record, in: environment))
        for round in 0..<2_000 {
          let page = try #require(pages.randomElement(using: &random))
          let place = page * 4_096 + Int(random.next() % (round % 2 == 0 ? 64 : 4_096))
          let bytes = (0..<4).map { _ in UInt8(truncatingIfNeeded: random.next()) }
          let end = min(place + 4, sound.count)
          try file.overwrite(bytes.prefix(end - place), at: place)
          let numbers = (0..<20).map { _ in random.next() % 3_000 }
          for value in numbers.map({ direct.value(of: $0) }) + direct.values(of: numbers) {
            if let value {
              found += 1
              _ = value.reduce(0) { $0 &+ Int($1) }
            } else {
              missed += 1
            }
          }
          _ = try Self.leafEntries(of: tree, in: transaction).count
          try file.overwrite(sound[place..<end], at: place)
        }
        let entries = try Self.leafEntries(of: tree, in: transaction)
        #expect(entries.count == 3_000)
      }
      #expect(found > 1_000 && missed > 10, "some damage is met, and some is not")
    }
  }

  static func makeTree(in environment: Environment, named name: String = "tree") throws
    -> Tree
  {
    try environment.write {
      try environment.createTree(named: name, hasIntegerKeys: true, in: $0)
    }
  }

  static func put(
    _ value: [UInt8], _ number: UInt64, _ tree: Tree, in transaction: TreeWriter
  ) throws {
    try withUnsafeBytes(of: number) { try transaction.put(tree, key: Array($0), value: value) }
  }

  /// A value; some have pages of their own.
  private static func value(using random: inout SeededRandom) -> [UInt8] {
    let size = random.next() % 40 == 0 ? Int(random.next() % 20_000) : Int(random.next() % 300)
    return (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 7) }
  }

  /// The entries up to the first that is damaged.
  private static func leafEntries(
    of tree: Tree, in transaction: TreeReader
  ) throws -> [(number: UInt64, value: [UInt8])] {
    var entries: [(UInt64, [UInt8])] = []
    guard var leaves = try transaction.leaves(of: tree) else { return entries }
    while let leaf = leaves.next() {
      for place in 0..<leaf.count {
        guard let entry = leaf.entry(at: place), entry.key.count == 8 else { return entries }
        entries.append((entry.key.loadUnaligned(as: UInt64.self), Array(entry.value)))
      }
    }
    return entries
  }
}

extension FileHandle {
  fileprivate func overwrite(_ bytes: some Sequence<UInt8>, at offset: Int) throws {
    try seek(toOffset: UInt64(offset))
    try write(contentsOf: Data(bytes))
  }
}
