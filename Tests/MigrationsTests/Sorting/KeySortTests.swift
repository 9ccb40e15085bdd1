import Foundation
import LMDB
import SystemSupport
import TestSupport
import Testing

@testable import EntityStore
@testable import Migrations

/// The runs and their merge against a sort of the same keys in memory.
@Suite struct KeySortTests {
  @Test(arguments: RandomKeys.allCases)
  func keysComeBackInOrderHoweverManyRunsTheyTake(_ kind: RandomKeys) throws {
    var random = SeededRandom(seed: 11)
    for (count, memoryMax) in [
      (0, 4_000), (1, 4_000), (2, 4_000), (300, 4_000), (1_000, 40_000), (1_000, 64 << 20),
    ] {
      let keys = kind.keys(count: count, &random)
      try withScratchFolder { folder in
        let runs = try makeRuns(keys, in: folder, memoryMax: memoryMax)
        let (found, error) = merged(runs, in: folder)
        #expect(error == nil)
        #expect(found == sorted(keys), "seed 11, \(kind), \(count) keys in \(memoryMax) bytes")
        #expect(runs.keys == keys.count)
        #expect(runs.runs.count <= KeyRuns.runsMax)
        #expect(try runs.verify(in: folder))
        #expect(try scratchFiles(folder).count == runs.runs.count)
      }
    }
  }

  @Test func moreRunsThanAMergeOpensAreMergedInPasses() throws {
    var random = SeededRandom(seed: 12)
    let keys = RandomKeys.short.keys(count: 5_000, &random)
    try withScratchFolder { folder in
      let runs = try makeRuns(keys, in: folder, memoryMax: 1_100)
      #expect(runs.runs.count == KeyRuns.runsMax)
      #expect(runs.runs.map(\.number).max() ?? 0 > 200)
      #expect(merged(runs, in: folder).keys == sorted(keys))
      #expect(try runs.verify(in: folder))
      #expect(try scratchFiles(folder).count == KeyRuns.runsMax)
    }
  }

  @Test func keysThatFitIntoMemoryBecomeOneRunOfManyBlocks() throws {
    var random = SeededRandom(seed: 13)
    let keys = RandomKeys.short.keys(count: 20_000, &random)
    try withScratchFolder { folder in
      let runs = try makeRuns(keys, in: folder, memoryMax: 64 << 20)
      #expect(runs.runs.count == 1)
      #expect((runs.runs.first?.bytes ?? 0) > 4 * KeyRunFormat.blockBytes)
      #expect(merged(runs, in: folder).keys == sorted(keys))
    }
  }

  @Test func aRepeatedKeyIsReturnedOnce() throws {
    var random = SeededRandom(seed: 14)
    let keys = RandomKeys.short.keys(count: 400, &random)
    try withScratchFolder { folder in
      for memoryMax in [3_000, 20_000, 64 << 20] {
        let thrice = (keys + keys + keys).shuffled(using: &random)
        let runs = try makeRuns(thrice, in: folder, memoryMax: memoryMax)
        #expect(merged(runs, in: folder).keys == sorted(keys), "seed 14, \(memoryMax)")
      }
    }
  }

  @Test(arguments: [4_000, 64 << 20])
  func aMergeBeginsStrictlyAfterAnyKey(_ memoryMax: Int) throws {
    var random = SeededRandom(seed: 15)
    let keys = RandomKeys.short.keys(count: 1_000, &random)
    let all = sorted(keys)
    let first = try #require(all.first)
    let last = try #require(all.last)
    try withScratchFolder { folder in
      let runs = try makeRuns(keys, in: folder, memoryMax: memoryMax)
      var starts: [[UInt8]] = [[], [0], [0xFF, 0xFF], first, last, last + [0]]
      for _ in 0..<12 {
        let key = try #require(all.randomElement(using: &random))
        // A key, one just behind it, one that is its beginning, and any other.
        starts += [key, key + [0], key.dropLast(), random.bytes(count: 3)]
      }
      for start in starts {
        let expected = all.filter { start.lexicographicallyPrecedes($0) }
        #expect(merged(runs, in: folder, after: start).keys == expected, "seed 15, \(start)")
      }
    }
  }

  @Test func aMergeBeginsAfterAnyKeyOfAFileOfManyBlocks() throws {
    var random = SeededRandom(seed: 16)
    let keys = RandomKeys.longest.keys(count: 20_000, &random)
    let all = sorted(keys)
    try withScratchFolder { folder in
      // So few bytes differ that the run has some blocks only.
      let runs = try makeRuns(keys, in: folder, memoryMax: 64 << 20)
      #expect((runs.runs.first?.bytes ?? 0) > 3 * KeyRunFormat.blockBytes)
      for position in stride(from: 0, to: all.count, by: 97) {
        var merge = try runs.merge(in: folder, after: all[position])
        let next = try merge.next().map(Array.init)
        #expect(next == (position + 1 < all.count ? all[position + 1] : nil), "seed 16")
      }
    }
  }

  @Test func aResumedMergeContinuesFromTheCallersCheckpoint() throws {
    var random = SeededRandom(seed: 17)
    let keys = RandomKeys.short.keys(count: 1_000, &random)
    try withScratchFolder { folder in
      let runs = try makeRuns(keys, in: folder, memoryMax: 8_000)
      let kept = try JSONEncoder().encode(runs)
      let resumed = try JSONDecoder().decode(KeyRuns.self, from: kept)
      #expect(resumed == runs)
      #expect(try resumed.verify(in: folder))
      var found: [[UInt8]] = []
      while found.count <= keys.count {
        var merge = try resumed.merge(in: folder, after: found.last)
        var chunk = 0
        while chunk < 64, let key = try merge.next() {
          found.append(Array(key))
          chunk += 1
        }
        if chunk == 0 { break }
      }
      #expect(found == sorted(keys))
    }
  }

  @Test func anArenaTakesNoMoreThanItsCapacity() {
    var arena = KeyArena(capacity: 10_000)
    #expect(arena.capacity == 10_000)
    let key = [UInt8](repeating: 1, count: 84)
    key.withUnsafeBytes { while arena.add($0) {} }
    #expect(arena.count == 100)
    arena.removeAll()
    #expect(arena.count == 0)
    let longest = [UInt8](repeating: 1, count: StoreLimits.keyBytesMax)
    var least = KeyArena(capacity: 0)
    let taken = longest.withUnsafeBytes { [least.add($0), least.add($0)] }
    #expect(taken == [true, false])
  }

  @Test(arguments: [0, StoreLimits.keyBytesMax + 1])
  func aKeyOfAnImpossibleLengthIsRefused(_ count: Int) throws {
    try withScratchFolder { folder in
      let error = #expect(throws: StoreError.self) {
        try makeRuns([[UInt8](repeating: 1, count: count)], in: folder, memoryMax: 4_000)
      }
      #expect(error?.code == .storage && error?.description.contains("longer than 511") == true)
      let files = try scratchFiles(folder)
      #expect(files.isEmpty)
    }
  }
}
