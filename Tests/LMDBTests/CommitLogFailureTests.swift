import Foundation
import SystemSupport
import TestSupport
import Testing

@testable import LMDB

/// Logs that are damaged, and logs that fail in the middle of a commit.
@Suite struct CommitLogFailureTests {
  // MARK: Damage

  @Test func anEntryWithAnyBitFlippedOrCutIsRefusedAndChangesNothing() throws {
    try withDamagedLog { parts, follow in
      let part = parts[1]
      for bit in 0..<part.bytes.count * 8 {
        var bytes = part.bytes
        bytes[bit / 8] ^= 1 << (bit % 8)
        try follow("bit \(bit)", [LogPart(sequence: 2, bytes: bytes, chain: part.chain)])
      }
      for count in part.bytes.indices {
        let bytes = Array(part.bytes.prefix(count))
        try follow("cut to \(count)", [LogPart(sequence: 2, bytes: bytes, chain: part.chain)])
      }
    }
  }

  @Test(arguments: [UInt64(7)])
  func entriesWithLyingNumbersAreRefusedAndChangeNothing(seed: UInt64) throws {
    try withDamagedLog { parts, follow in
      var random = SeededRandom(seed: testSeed(seed))
      for round in 0..<(isThorough ? 100_000 : 5_000) {
        var bytes = parts[1].bytes
        for _ in 0..<Int.random(in: 1...4, using: &random) {
          let place = Int.random(in: 5..<bytes.count, using: &random)
          bytes[place] = [0, 1, 2, 8, 9, 0x7f, 0x80, 0xff].randomElement(using: &random)!
        }
        if bytes == parts[1].bytes { continue }
        if Bool.random(using: &random) { bytes += random.bytes(count: 9) }
        try follow(
          "seed \(seed), round \(round)",
          [LogPart(sequence: 2, bytes: bytes, chain: parts[1].chain)])
      }
    }
  }

  @Test func entriesInAnotherOrderOrOfAnotherPlaceAreRefused() throws {
    try withDamagedLog { parts, follow in
      let second = parts[1]
      let third = parts[2]
      try follow("an entry is missing", [third])
      try follow(
        "under the number of another",
        [
          LogPart(sequence: 2, bytes: third.bytes, chain: third.chain)
        ])
      try follow(
        "with the chain of another",
        [
          LogPart(sequence: 2, bytes: second.bytes, chain: third.chain)
        ])
      try follow(
        "without parts",
        [
          LogPart(sequence: 2, bytes: [], chain: parts[0].chain)
        ])
      try follow(
        "without its end", [LogPart(sequence: 2, bytes: second.bytes, chain: nil)],
        code: .unreachable)
    }
  }

  @Test func anEntryCannotChangeThePositionOrUseATreeInAnotherWay() throws {
    typealias Step = (kind: TreeOperation, tree: UInt16, key: [UInt8])
    let entries: [(String, [Step])] = [
      ("the tree of the position", [(.name, 0, Array("hub".utf8)), (.create, 0, [])]),
      ("a tree without a name", [(.create, 0, [])]),
      ("a tree that is missing", [(.name, 0, [97]), (.put, 0, [1])]),
      ("a number twice", [(.name, 0, [97]), (.name, 0, [98])]),
      ("a name with a zero byte", [(.name, 0, [97, 0])]),
      ("a name that is no text", [(.name, 0, [0xff])]),
      ("an integer of one byte", [(.name, 0, Array("numbers".utf8)), (.put, 0, [1])]),
      ("a key that is missing", [(.name, 0, Array("tree".utf8)), (.delete, 0, [77])]),
      ("an empty key", [(.name, 0, Array("tree".utf8)), (.put, 0, [])]),
      (
        "a key that is too long",
        [
          (.name, 0, Array("tree".utf8)), (.put, 0, [UInt8](repeating: 1, count: 512)),
        ]
      ),
      ("an appended key in the middle", [(.name, 0, Array("tree".utf8)), (.append, 0, [0])]),
    ]
    try withDamagedLog { parts, follow in
      for (name, steps) in entries {
        var bytes = TreeOperation.header
        for step in steps {
          bytes += [step.kind.rawValue, UInt8(step.tree), 0]
          if step.kind.hasKey {
            bytes += [UInt8(step.key.count & 0xff), UInt8(step.key.count >> 8)] + step.key
          }
          if step.kind.hasValue { bytes += [0, 0, 0, 0] }
        }
        let chain = bytes.withUnsafeBytes {
          LogPosition.chain(parts[0].chain ?? 0, after: $0)
        }
        try follow(name, [LogPart(sequence: 2, bytes: bytes, chain: chain)])
      }
    }
  }

  // MARK: Failures

  @Test(arguments: MemoryCommitLog.FailingStep.allCases)
  func whatIsAcknowledgedIsInTheLogExactlyOnce(step: MemoryCommitLog.FailingStep) throws {
    try withMachines(2) { machines, log in
      let tree = try machines[0].makeTree()
      for round in 0..<20 as Range<UInt8> {
        let key: [UInt8] = [100, round]
        // The other machine writes, so that there is a tail.
        try machines[1].write { try $0.put(tree, key: [round], value: [round]) }
        log.fail(at: step)
        let outcome: StorageError.Code? = try code {
          try machines[0].write { try $0.put(tree, key: key, value: [round]) }
        }
        log.fail(at: nil)
        let times = log.parts.count { $0.bytes.contains(key) }
        switch step {
        case .turn, .tail, .part:
          #expect(outcome == .unreachable)
          #expect(times == 0)
        case .refusal, .lostBeforeCommit:
          #expect(outcome == .busy)
          #expect(times == 0)
        case .lostAfterCommit:
          #expect(outcome == nil)
          #expect(times == 1)
        case .silentBeforeCommit:
          #expect(outcome == .unknownOutcome)
          #expect(times == 0)
        case .silentAfterCommit:
          #expect(outcome == .unknownOutcome)
          #expect(times == 1)
          #expect(try machines[0].value(tree, key) == nil)
        }
        try machines[0].write { try $0.put(tree, key: [200, round], value: [round]) }
        #expect((try machines[0].value(tree, key) != nil) == (times == 1))
        try machines[1].catchUp()
        try requireEqual(machines, "\(step), round \(round)")
      }
    }
  }

  /// Fails each write and each flush of the file once, with an error of the device.
  @Test func aDeviceThatFailsOnceAfterTheLogHasTheEntryCostsNothing() throws {
    try withTemporaryFolder { folder in
      guard let shim = try FaultShim(in: folder) else {
        print("there is no C compiler: not tested")
        return
      }
      var (call, later, refused) = (0, 0, 0)
      while true {
        call += 1
        let path = folder.path("store \(call)")
        var environment = shim.environment(call: call, number: EIO, stays: false, of: path)
        environment["MOORING_FAULT_COUNT"] = shim.counted
        let child = try ChildProcess(
          childExecutable(named: "store-child"), ["lmdb-log-write", path],
          environment: environment)
        var lines: [String] = []
        while let line = child.readLine() { lines.append(line) }
        child.waitForExit()
        let calls = Int(
          try String(contentsOfFile: shim.counted, encoding: .utf8)
            .trimmingCharacters(in: .whitespacesAndNewlines))
        if try #require(calls) < call { break }
        // One that could not be opened has written nothing.
        if lines.first?.hasPrefix("error") == true { continue }
        #expect(lines.last == "equal", "call \(call): \(lines)")
        for line in lines.dropLast() {
          let words = line.split(separator: " ", maxSplits: 3).map(String.init)
          if words[0] == "stored" {
            #expect(words[1...2] == ["true", "1"], "call \(call): \(line)")
            if words[3] == "later" { later += 1 }
          } else {
            #expect(words[0...2] == ["inputOutput", "false", "0"], "call \(call): \(line)")
            refused += 1
          }
        }
      }
      #expect(later >= 6)
      print("\(call - 1) calls, \(later) commits came later, \(refused) were refused")
    }
  }
}

/// A log without writers whose entries a test chooses.
private final class DamagedLog: CommitLog {
  let hub: UInt128
  let machineName = "damaged"
  let parts = Locked<[LogPart]>([])

  init(hub: UInt128) { self.hub = hub }

  func beginTurn(after position: LogPosition, within limit: Duration) throws -> any LogTurn {
    throw StorageError(.unreachable, "the log has no turns", advice: "follow it")
  }

  func tail(after position: LogPosition) throws -> any LogTail {
    Tail(parts.withLock { parts in parts.filter { $0.sequence > position.sequence } })
  }

  private final class Tail: LogTail {
    private var rest: ArraySlice<LogPart>

    init(_ parts: [LogPart]) { rest = parts[...] }

    func nextPart() -> LogPart? { rest.popFirst() }
  }
}

/// Expects a machine to refuse entries and to stay as it is.
private struct Refusal {
  let log: DamagedLog
  let follower: Environment
  let position: LogPosition?

  func callAsFunction(
    _ name: String, _ parts: [LogPart], code expected: StorageError.Code = .damaged
  ) throws {
    log.parts.withLock { $0 = parts }
    let found: StorageError.Code? = try code { _ = try follower.catchUp() }
    #expect(found == expected, "\(name)")
    #expect(try follower.position == position, "\(name)")
    #expect(try follower.names == ["numbers", "tree"], "\(name)")
    try follower.read { transaction in
      let tree = try #require(try follower.tree(named: "tree", in: transaction))
      #expect(try transaction.count(tree) == 4, "\(name)")
    }
  }
}

/// Runs `body` with the parts of three entries and a machine that has the first one.
private func withDamagedLog(
  _ body: ([LogPart], Refusal) throws -> Void
) throws {
  try withTemporaryFolder { folder in
    let log = MemoryCommitLog()
    let writer = try machine(folder.path("writer"), log)
    let trees = try writer.write { transaction in
      let tree = try writer.createTree(named: "tree", in: transaction)
      let numbers = try writer.createTree(
        named: "numbers", hasIntegerKeys: true, in: transaction)
      for key in 10..<14 as Range<UInt8> { try transaction.put(tree, key: [key], value: [key]) }
      return [tree, numbers]
    }
    try writer.write { transaction in
      try transaction.put(trees[0], key: [3, 4], value: [5, 6, 7])
      try transaction.append(trees[0], key: [77, 1], value: [])
      try transaction.put(trees[1], key: [9, 0, 0, 0, 0, 0, 0, 0], value: [1])
      try transaction.delete(trees[0], key: [10])
      let made = try writer.createTree(named: "made", in: transaction)
      try transaction.put(made, key: [1], value: [1])
      try transaction.empty(trees[1])
      try transaction.drop(made)
    }
    try writer.write { try $0.put(trees[0], key: [1], value: [1]) }
    let damaged = DamagedLog(hub: log.hub)
    let follower = try machine(folder.path("follower"), damaged)
    damaged.parts.withLock { $0 = Array(log.parts.prefix(1)) }
    try follower.catchUp()
    let position = try follower.position
    try body(log.parts, Refusal(log: damaged, follower: follower, position: position))
    // The follower can still apply what is sound.
    damaged.parts.withLock { $0 = log.parts }
    try follower.catchUp()
    try requireEqual([writer, follower], "after all refusals")
  }
}
