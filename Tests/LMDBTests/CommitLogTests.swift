import Dispatch
import SystemSupport
import TestSupport
import Testing

@testable import LMDB

/// Environments of several machines that share a commit log.
@Suite struct CommitLogTests {
  @Test(arguments: [UInt64(1), 2, 3, 4])
  func environmentsThatFollowEachOthersLogStayEqual(seed: UInt64) throws {
    try withMachines(2) { machines, log in
      var random = RandomOperations(seed: testSeed(seed))
      for round in 0..<(isThorough ? 1_000 : 150) {
        let machine = machines[Int.random(in: 0...1, using: &random.generator)]
        do {
          try machine.write { try random.run(in: $0, of: machine) }
        } catch is RandomOperations.Failure {}
        guard round % 10 == 9 else { continue }
        for machine in machines { try machine.catchUp() }
        try requireEqual(machines, "seed \(seed), round \(round)")
      }
      for machine in machines { try machine.catchUp() }
      try requireEqual(machines, "seed \(seed)")
      #expect(try machines[0].position == log.head)
      // A third machine that joins later becomes the same.
      try Shadow.compare(machines[0], with: log)
    }
  }

  @Test func aWriteWithoutChangesIsNoEntry() throws {
    try withMachines(2) { machines, log in
      let tree = try machines[0].makeTree()
      #expect(log.head.sequence == 1)
      try machines[0].write { try #expect($0.delete(tree, key: [1]) == false) }
      try machines[0].write { transaction in
        _ = try? transaction.nested { nested in
          try nested.put(tree, key: [1], value: [1])
          throw RandomOperations.Failure()
        }
      }
      try machines[1].write { _ in }
      #expect(log.head.sequence == 1)
      #expect(try machines[1].position == log.head)
    }
  }

  @Test func partsOfANestedTransactionThatFailsAreTakenBack() throws {
    try withMachines(2) { machines, log in
      let tree = try machines[0].makeTree()
      let large = [UInt8](repeating: 7, count: 300_000)
      func fill(_ transaction: TreeWriter, from first: UInt8) throws {
        for key in first..<first + 10 { try transaction.put(tree, key: [key], value: large) }
      }
      try machines[0].write { transaction in
        try transaction.put(tree, key: [0], value: [0])
        try transaction.nested { outer in
          try outer.put(tree, key: [1], value: [1])
          _ = try? outer.nested { inner in
            try fill(inner, from: 10)
            throw RandomOperations.Failure()
          }
          try fill(outer, from: 40)
        }
      }
      #expect(log.partCounts.takenBack >= 2)
      #expect(log.parts.allSatisfy { $0.bytes.count < 2 << 20 })
      try machines[1].catchUp()
      try requireEqual(machines, "after parts were taken back")
      #expect(try machines[1].value(tree, [10]) == nil)
      #expect(try machines[1].value(tree, [40]) == large)
    }
  }

  @Test func anEntryIsVisibleBeforeALargeOneAfterItIsApplied() throws {
    try withMachines(2) { machines, _ in
      let tree = try machines[0].makeTree()
      #expect(try commits(applying: [1, 2, 3], of: tree, machines) == 1)
      #expect(try commits(applying: [4, 3 << 20], of: tree, machines) == 2)
      try requireEqual(machines, "after entries of several sizes")
    }
  }

  @Test func aSmallEntryDoesNotWaitForTheCommitOfALargeOneBeforeIt() throws {
    try withMachines(2) { machines, _ in
      let tree = try machines[0].makeTree()
      try machines[1].catchUp()
      #expect(try commits(applying: [3 << 20, 1, 2, 3 << 20, 3], of: tree, machines) == 2)
      try requireEqual(machines, "after entries of several sizes")
    }
  }

  @Test func keysInPagesThatAnOperationChangesAreRecordedAsTheyWere() throws {
    try withMachines(2) { machines, _ in
      let tree = try machines[0].makeTree()
      try machines[0].write { transaction in
        for key in 0..<50 as Range<UInt8> {
          try transaction.put(tree, key: [key, key], value: [key])
        }
        for _ in 0..<20 {
          var cursor = try transaction.cursor(tree)
          let entry = try #require(try cursor.last())
          try transaction.delete(tree, key: entry.key)
          _ = try cursor.first()
          try cursor.deleteCurrent()
        }
      }
      try machines[1].catchUp()
      try requireEqual(machines, "after deletions by keys in place")
    }
  }

  @Test func namesOfDroppedTreesAreRemovedAfterACrashBeforeTheirRemoval() throws {
    try withMachines(2) { machines, _ in
      let tree = try machines[0].makeTree("kept")
      // The state after a kill between the commit that drops a tree and the removal of its name.
      try machines[0].write { transaction in
        let recorder = transaction.recorder
        transaction.recorder = nil
        _ = try machines[0].createTree(named: "gone", in: transaction)
        let position = try machines[0].createTree(named: PositionTree.name, in: transaction)
        try transaction.put(position, key: PositionTree.droppedKey, value: Array("gone".utf8))
        transaction.recorder = recorder
      }
      #expect(try machines[0].names == ["gone", "kept"])
      try machines[0].write { transaction in
        #expect(try machines[0].treeNames(in: transaction) == ["kept"])
        try transaction.put(tree, key: [1], value: [1])
      }
      try machines[1].catchUp()
      try requireEqual(machines, "after a crash")
    }
  }

  @Test func aStoreWithALogIsNotWrittenWithoutIt() throws {
    try withTemporaryFolder { folder in
      let log = MemoryCommitLog()
      do {
        let environment = try machine(folder.path("store"), log)
        _ = try environment.makeTree()
      }
      let environment = try Environment.open(at: folder.path("store"))
      #expect(try environment.names == ["tree"])
      try #expect(code { try environment.write { _ in } } == .needsCommitLog)
    }
  }

  @Test func commitsThatTheLogLacksAreDivergence() throws {
    try withTemporaryFolder { folder in
      let log = MemoryCommitLog()
      var earlier = log.head
      do {
        let environment = try machine(folder.path("store"), log)
        _ = try environment.makeTree()
        earlier = log.head
        _ = try environment.makeTree("second")
      }
      // The log has lost the second commit, and has got another one since.
      let shorter = try #require(log.prefix(upTo: earlier))
      let environment = try machine(folder.path("store"), shorter)
      try #expect(code { _ = try environment.catchUp() } == .diverged)
      _ = try machine(folder.path("other"), shorter).makeTree("another")
      try #expect(code { try environment.write { _ in } } == .diverged)
      #expect(try environment.names == ["second", "tree"])
    }
    // A store with trees from before is not part of the log, either.
    try withTemporaryFolder { folder in
      do {
        _ = try Environment.open(
          at: folder.path("store"), options: .init(createIfMissing: true)
        ).makeTree()
      }
      let environment = try machine(folder.path("store"), MemoryCommitLog())
      try #expect(code { try environment.write { _ in } } == .diverged)
    }
  }

  @Test func aProcessThatKeepsTheWriterLockStopsOnlyItsMachine() throws {
    try withMachines(2) { machines, log in
      let tree = try machines[0].makeTree()
      try machines[1].catchUp()
      let lock = try WriterLock(folder: machines[0].folder)
      try lock.acquire(within: .zero)
      let started = DispatchSemaphore(value: 0)
      let ended = DispatchGroup()
      DispatchQueue.global().async(group: ended) {
        started.signal()
        #expect(throws: Never.self) {
          try #expect(
            code { try machines[0].write { try $0.put(tree, key: [0], value: [0]) } } == .busy)
        }
      }
      started.wait()
      for key in 1...3 as ClosedRange<UInt8> {
        try machines[1].write { try $0.put(tree, key: [key], value: [key]) }
      }
      ended.wait()
      lock.release()
      #expect(log.head.sequence == 4)
      try machines[0].write { try $0.put(tree, key: [9], value: [9]) }
      try machines[1].catchUp()
      try requireEqual(machines, "after the lock was free")
    }
  }

  @Test func aMapWithoutRoomIsFoundBeforeTheLogCommits() throws {
    try withTemporaryFolder { folder in
      let log = MemoryCommitLog()
      let environment = try machine(folder.path("store"), log, mapSize: 1 << 20)
      let tree = try environment.makeTree()
      var random = SeededRandom(seed: 5)
      var acknowledged: UInt64 = 1
      var full = 0
      while full < 40 {
        let key = random.bytes(count: 200)
        let count = Int.random(in: 0...6_000, using: &random)
        do {
          try environment.write { transaction in
            try transaction.put(tree, key: key, value: [UInt8](repeating: 1, count: count))
          }
          acknowledged += 1
        } catch let error as StorageError where error.code == .mapFull { full += 1 }
        #expect(log.head.sequence == acknowledged)
      }
      try Shadow.compare(environment, with: log)
    }
  }

  @Test func aCommitThatFailsAfterThatOfTheLogAppearsLater() throws {
    try withTemporaryFolder { folder in
      let child = try ChildProcess(
        childExecutable(named: "store-child"), ["lmdb-log-fill", folder.path("store")])
      #expect(child.readLine() == "notHereYet")
      #expect(child.readLine() == "before nil, in the log 1")
      #expect(child.readLine() == "after 8000, in the log 1")
      #expect(child.waitForExit() == .init(status: 0, wasSignal: false))
    }
  }

  @Test func anOperationThatIsNotRecordedIsFoundByTheShadow() throws {
    try withMachines(1) { machines, log in
      let tree = try machines[0].makeTree()
      func writeUnrecorded(_ body: (TreeWriter) throws -> Void) throws {
        try machines[0].write { transaction in
          let recorder = transaction.recorder
          transaction.recorder = nil
          try body(transaction)
          transaction.recorder = recorder
        }
      }
      let before = log.head
      try machines[0].write { try $0.put(tree, key: [1], value: [1]) }
      try Shadow.compare(machines[0], with: log)
      try writeUnrecorded { try $0.put(tree, key: [1], value: [2]) }
      #expect(throws: ShadowMismatch.self) { try Shadow.compare(machines[0], with: log) }
      try writeUnrecorded { try $0.put(tree, key: [1], value: [1]) }
      try Shadow.compare(machines[0], with: log)
      try writeUnrecorded { _ = try machines[0].createTree(named: "other", in: $0) }
      #expect(throws: ShadowMismatch.self) { try Shadow.compare(machines[0], with: log) }
      #expect(before.sequence + 1 == log.head.sequence)
    }
  }
}

extension Environment {
  var position: LogPosition? { get throws { try read { try logPosition(in: $0) } } }
  var names: [String] { get throws { try read { try treeNames(in: $0) } } }
}

/// Opens an environment of a machine.
func machine(
  _ folder: String, _ log: any CommitLog, mapSize: Int = 1 << 30
) throws -> Environment {
  var options = Environment.Options(
    mapSize: mapSize, createIfMissing: true, writerDeadline: .seconds(2), flushesCommits: false)
  options.commitLog = log
  return try Environment.open(at: folder, options: options)
}

/// Runs `body` with so many environments that share a log, and checks their pages at the end.
func withMachines(
  _ count: Int, _ body: ([Environment], MemoryCommitLog) throws -> Void
) throws {
  try withTemporaryFolder { folder in
    let log = MemoryCommitLog()
    let machines = try (0..<count).map { try machine(folder.path("machine-\($0)"), log) }
    try body(machines, log)
    for machine in machines {
      let report = try PageFile.verify(folder: machine.folder, snapshotOf: machine)
      guard report.problems.isEmpty else { throw Unsound(problems: report.problems) }
    }
  }
}

/// Writes a value of each size with a commit of its own on the first machine.
///
/// - Returns: The number of commits with which the second machine applies them.
private func commits(
  applying sizes: [Int], of tree: Tree, _ machines: [Environment]
) throws -> Int {
  for (key, size) in sizes.enumerated() {
    try machines[0].write {
      try $0.put(tree, key: [UInt8(key)], value: [UInt8](repeating: 7, count: size))
    }
  }
  let before = machines[1].lastTransactionID
  try machines[1].catchUp()
  return machines[1].lastTransactionID - before
}

/// Compares all environments with the first one.
func requireEqual(_ machines: [Environment], _ when: String) throws {
  for other in machines.dropFirst() {
    do {
      try machines[0].read { one in
        try other.read { try Shadow.requireEqual(machines[0], one, other, $0) }
      }
    } catch let mismatch as ShadowMismatch {
      Issue.record("\(when): \(mismatch)")
      throw mismatch
    }
  }
}
