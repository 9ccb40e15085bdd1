import Foundation
import Glibc
import TestSupport
import Testing

@testable import EntityStore
@testable import Migrations

/// Scratch files that are not what was written: found, and never a trap.
@Suite struct KeyRunDamageTests {
  @Test func eachDamagedByteOfASmallRunIsFound() throws {
    try withRun(of: 60) { folder, runs, all, bytes, path in
      for position in bytes.indices {
        var damaged = bytes
        damaged[position] ^= 1 << UInt8(position % 8)
        try write(damaged, to: path)
        try expectDamage(runs, in: folder, all, "byte \(position)")
      }
    }
  }

  @Test func eachCutOfASmallRunIsFound() throws {
    try withRun(of: 60) { folder, runs, all, bytes, path in
      for count in bytes.indices {
        try write(Array(bytes[..<count]), to: path)
        try expectDamage(runs, in: folder, all, "cut to \(count)")
      }
      try write(bytes + [0], to: path)
      try expectDamage(runs, in: folder, all, "one byte more")
    }
  }

  @Test func damageOfARunOfManyBlocksIsFoundAndNoWrongKeyIsReturned() throws {
    var random = SeededRandom(seed: 21)
    try withRun(of: 12_000) { folder, runs, all, bytes, path in
      #expect(bytes.count > 3 * KeyRunFormat.blockBytes)
      for _ in 0..<40 {
        let position = Int.random(in: bytes.indices, using: &random)
        var damaged = bytes
        damaged[position] ^= 1
        try write(damaged, to: path)
        try expectDamage(runs, in: folder, all, "seed 21, byte \(position)")
        // A merge that begins behind the damage need not see it.
        let start = try #require(all.indices.randomElement(using: &random))
        let late = merged(runs, in: folder, after: all[start])
        #expect(all[(start + 1)...].starts(with: late.keys), "seed 21, byte \(position)")
        #expect(late.error != nil || late.keys.count == all.count - start - 1)
      }
    }
  }

  @Test func blocksInAnotherOrderAreFound() throws {
    try withRun(of: 12_000) { folder, runs, all, bytes, path in
      let first = KeyRunFormat.headerBytes
      let second = first + KeyRunFormat.blockBytes
      let third = second + KeyRunFormat.blockBytes
      let swapped =
        bytes[..<first] + bytes[second..<third] + bytes[first..<second] + bytes[third...]
      try write(Array(swapped), to: path)
      try expectDamage(runs, in: folder, all, "swapped blocks")
    }
  }

  @Test func forgedEntriesWithMatchingHashesAreRefused() throws {
    var random = SeededRandom(seed: 22)
    try withRun(of: 60) { folder, runs, _, bytes, path in
      let run = try #require(runs.runs.first)
      let entries = KeyRunFormat.headerBytes + KeyRunFormat.blockHeaderBytes
      for round in 0..<500 {
        var forged = bytes
        for _ in 0..<3 {
          let position = Int.random(in: (entries - 4)..<bytes.count, using: &random)
          forged[position] = [0, 1, 0x7F, 0x80, 0xFF].randomElement(using: &random) ?? 0
        }
        let block = Array(forged[KeyRunFormat.headerBytes...])
        let hash = block.withUnsafeBytes { KeyRunFormat.hash(ofBlock: $0) }
        let forgedRun = KeyRun(
          number: run.number, keys: run.keys, bytes: run.bytes, checksum: hash)
        forged.replaceSubrange(
          ..<KeyRunFormat.headerBytes,
          with: KeyRunFormat.header(of: forgedRun, owner: ContentHash.of(runs.owner)))
        forged.replaceSubrange(
          KeyRunFormat.headerBytes..<KeyRunFormat.headerBytes + 8,
          with: withUnsafeBytes(of: hash.littleEndian) { Array($0) })
        try write(forged, to: path)
        let found = merged(KeyRuns(owner: runs.owner, runs: [forgedRun]), in: folder).keys
        // Whatever was understood of it ascends.
        #expect(sorted(found) == found && Set(found).count == found.count, "seed 22, \(round)")
      }
    }
  }

  @Test func runsThatAreLostOrOfAnotherOwnerAreFound() throws {
    try withRun(of: 60) { folder, runs, all, bytes, path in
      try FileManager.default.removeItem(atPath: path)
      try expectDamage(runs, in: folder, all, "missing")
      try write(bytes, to: folder.file(owner: "another", number: 0))
      let another = KeyRuns(owner: "another", runs: runs.runs)
      try expectDamage(another, in: folder, all, "of another owner")
      let run = try #require(runs.runs.first)
      let many = KeyRuns(owner: "test", runs: Array(repeating: run, count: KeyRuns.runsMax + 1))
      try write(bytes, to: path)
      try expectDamage(many, in: folder, all, "too many")
      for size in [Int.min, -1, 0, KeyRunFormat.headerBytes, Int.max] {
        let other = KeyRun(number: 0, keys: 1, bytes: size, checksum: run.checksum)
        try expectDamage(KeyRuns(owner: "test", runs: [other]), in: folder, all, "size \(size)")
      }
    }
  }

  @Test func aMergeThatFailedFailsAgain() throws {
    try withRun(of: 12_000) { folder, runs, _, bytes, path in
      var damaged = bytes
      damaged[bytes.count - 1] ^= 1
      try write(damaged, to: path)
      var merge = try runs.merge(in: folder)
      var failures = 0
      while failures < 3 {
        do throws(StoreError) {
          if try merge.next() == nil { break }
        } catch {
          #expect(error.code == .damaged)
          failures += 1
        }
      }
      #expect(failures == 3)
    }
  }

  /// Runs the body with one run of random keys, and its file.
  private func withRun(
    of count: Int,
    _ body: (KeyRunFolder, KeyRuns, [[UInt8]], _ bytes: [UInt8], _ path: String) throws -> Void
  ) throws {
    var random = SeededRandom(seed: 20)
    let keys = RandomKeys.short.keys(count: count, &random)
    try withScratchFolder { folder in
      let runs = try makeRuns(keys, in: folder, memoryMax: 64 << 20)
      let path = folder.file(owner: runs.owner, number: 0)
      let bytes = Array(try Data(contentsOf: URL(fileURLWithPath: path)))
      try body(folder, runs, sorted(keys), bytes, path)
    }
  }

  /// Not by way of an empty file: some file systems flush one that is filled again, each time.
  private func write(_ bytes: [UInt8], to path: String) throws {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
    try #require(descriptor >= 0)
    defer { close(descriptor) }
    try #require(pwrite(descriptor, bytes, bytes.count, 0) == bytes.count)
    try #require(ftruncate(descriptor, bytes.count) == 0)
  }

  private func expectDamage(
    _ runs: KeyRuns, in folder: KeyRunFolder, _ all: [[UInt8]], _ what: String
  ) throws {
    #expect(try !runs.verify(in: folder), "\(what)")
    let (keys, error) = merged(runs, in: folder)
    #expect(error?.code == .damaged, "\(what)")
    #expect(all.starts(with: keys), "\(what)")
  }
}
