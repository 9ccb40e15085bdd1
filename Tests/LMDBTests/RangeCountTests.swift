import Foundation
import LMDB
import SystemSupport
import TestSupport
import Testing

/// Counts by pages equal counts entry by entry.
@Suite struct RangeCountTests {
  @Test(
    "Any range of any tree, after any writes and deletions",
    arguments: [1, 2, 3, 4] as [UInt64])
  func anyRange(seed: UInt64) throws {
    try withStore { environment in
      var random = SeededRandom(seed: seed)
      let tree = try environment.makeTree()
      // Long keys make deep trees.
      let longest = [3, 20, 120, 480][Int(seed - 1)]
      var keys: Set<[UInt8]> = []
      for round in 0..<8 {
        try environment.write { transaction in
          for _ in 0..<400 {
            let key = Self.key(longest, using: &random)
            keys.insert(key)
            // Some values have pages of their own.
            let size = random.next() % 50 == 0 ? 9_000 : Int(random.next() % 40)
            try transaction.put(tree, key: key, value: [UInt8](repeating: 7, count: size))
          }
          for key in keys.shuffled(using: &random).prefix(round * 30) {
            keys.remove(key)
            try transaction.delete(tree, key: key)
          }
        }
        let sorted = keys.sorted { $0.lexicographicallyPrecedes($1) }
        try environment.read { transaction in
          for _ in 0..<100 {
            let lower = Self.bound(sorted, longest, using: &random)
            let upper = random.next() % 5 == 0 ? nil : Self.bound(sorted, longest, using: &random)
            let expected = sorted.count { key in
              !key.lexicographicallyPrecedes(lower)
                && upper.map { key.lexicographicallyPrecedes($0) } != false
            }
            let counted = try Self.count(tree, from: lower, upTo: upper, in: transaction)
            try #require(
              counted == expected, "seed \(seed), round \(round): \(lower), \(upper ?? [])")
          }
        }
      }
    }
  }

  @Test func aTreeOfTheSnapshotIsCountedAndNotThatOfLaterCommits() throws {
    try withStore { environment in
      let tree = try environment.makeTree()
      try environment.write { transaction in
        for key in 0..<200 as Range<UInt8> {
          try transaction.put(tree, key: [key], value: [1])
        }
      }
      try environment.read { transaction in
        try Thread.runToEnd {
          try environment.write { writer in
            for key in 0..<100 as Range<UInt8> { try writer.delete(tree, key: [key]) }
          }
        }
        #expect(try Self.count(tree, from: [50], upTo: nil, in: transaction) == 150)
      }
      #expect(try environment.read { try Self.count(tree, from: [50], upTo: nil, in: $0) } == 100)
    }
  }

  @Test func integerKeysAreLeftToACursorAndAnEmptyTreeHasNone() throws {
    try withStore { environment in
      let numbers = try environment.write {
        try environment.createTree(named: "numbers", hasIntegerKeys: true, in: $0)
      }
      let empty = try environment.makeTree("empty")
      try environment.write { transaction in
        try transaction.put(numbers, key: [UInt8](repeating: 0, count: 8), value: [1])
      }
      try environment.read { transaction in
        let ofNumbers = try Self.count(numbers, from: [0], upTo: nil, in: transaction)
        #expect(ofNumbers == nil)
        let ofNothing = try Self.count(empty, from: [0], upTo: [9], in: transaction)
        #expect(ofNothing == 0)
      }
    }
  }

  @Test("Pages that are overwritten under a snapshot give a count or nil, and no crash")
  func overwrittenPages() throws {
    try withTemporaryFolder { folder in
      let environment = try Environment.open(
        at: folder.path("store"), options: .init(mapSize: 1 << 30, createIfMissing: true))
      let tree = try environment.makeTree("treeOfTheTest")
      var random = SeededRandom(seed: 9)
      var keys: Set<[UInt8]> = []
      try environment.write { transaction in
        for _ in 0..<3_000 {
          let key = Self.key(60, using: &random)
          keys.insert(key)
          try transaction.put(tree, key: key, value: [1, 2, 3])
        }
      }
      let path = environment.folder + "/data.mdb"
      let sound = try [UInt8](Data(contentsOf: URL(fileURLWithPath: path)))
      let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
      defer { try? file.close() }
      let name = Data("treeOfTheTest".utf8)
      // Not the meta pages and the tree of trees, which LMDB itself reads.
      let pages = (2..<sound.count / 4_096).filter { page in
        Data(sound[page * 4_096..<(page + 1) * 4_096]).range(of: name) == nil
      }
      var counted = 0
      try environment.read { transaction in
        for round in 0..<2_000 {
          let page = try #require(pages.randomElement(using: &random))
          // The header and the offsets of the nodes, where most goes wrong, and the nodes.
          let place = page * 4_096 + Int(random.next() % (round % 2 == 0 ? 64 : 4_096))
          let bytes = (0..<4).map { _ in UInt8(truncatingIfNeeded: random.next()) }
          let end = min(place + 4, sound.count)
          try file.write(bytes.prefix(end - place), at: place)
          let lower = Self.key(60, using: &random)
          let upper = random.next() % 2 == 0 ? nil : Self.key(60, using: &random)
          if let count = try Self.count(tree, from: lower, upTo: upper, in: transaction) {
            #expect(count >= 0)
            counted += 1
          }
          try file.write(sound[place..<end], at: place)
        }
        #expect(try Self.count(tree, from: [], upTo: nil, in: transaction) == keys.count)
      }
      #expect(counted > 100 && counted < 2_000, "some damage is met, and some is not")
    }
  }

  private static func count(
    _ tree: Tree, from lower: [UInt8], upTo upper: [UInt8]?, in transaction: TreeReader
  ) throws -> Int? {
    try lower.withUnsafeBytes { lower in
      guard let upper else { return try transaction.count(tree, from: lower, upTo: nil) {} }
      return try upper.withUnsafeBytes { try transaction.count(tree, from: lower, upTo: $0) {} }
    }
  }

  /// Keys that often begin alike.
  private static func key(_ longest: Int, using random: inout SeededRandom) -> [UInt8] {
    let count = Int.random(in: 1...longest, using: &random)
    return (0..<count).map { place in
      place < count / 2 ? UInt8(random.next() % 3) : UInt8(truncatingIfNeeded: random.next())
    }
  }

  private static func bound(
    _ keys: [[UInt8]], _ longest: Int, using random: inout SeededRandom
  ) -> [UInt8] {
    var bound = keys.randomElement(using: &random) ?? []
    switch random.next() % 4 {
    case 0: return bound
    case 1: return Array(bound.prefix(bound.count / 2))
    case 2: bound.append(0)
    default: bound = key(longest, using: &random)
    }
    return bound
  }
}

extension FileHandle {
  fileprivate func write(_ bytes: some Sequence<UInt8>, at offset: Int) throws {
    try seek(toOffset: UInt64(offset))
    try write(contentsOf: Data(bytes))
  }
}

extension Thread {
  /// Runs the closure on a separate thread and waits for it.
  fileprivate static func runToEnd(_ body: @Sendable @escaping () throws -> Void) throws {
    let result = Locked<Result<Void, any Error>?>(nil)
    let done = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      let outcome = Result { try body() }
      result.withLock { $0 = outcome }
      done.signal()
    }
    done.wait()
    try result.withLock { $0 }?.get()
  }
}
