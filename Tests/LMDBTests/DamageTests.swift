import Foundation
import LMDB
import SystemSupport
import TestSupport
import Testing

/// Truncated and overwritten files. LMDB itself opens them only in a child process.
@Suite struct DamageTests {
  /// A store with every kind of page: branches, overflow runs, two trees, a free list.
  private func makeFile(in folder: TemporaryFolder) throws -> (path: String, bytes: [UInt8]) {
    let path = folder.path("store")
    do {
      let environment = try Environment.open(
        at: path, options: .init(mapSize: 1 << 30, createIfMissing: true))
      let first = try environment.makeTree("first")
      let second = try environment.makeTree("second")
      for round in 0..<6 as Range<UInt8> {
        try environment.write { transaction in
          for key in 0..<60 as Range<UInt8> {
            let size = Int(key) * 5 + (key == 9 ? 9_000 : 0)
            let value = [UInt8](repeating: round, count: size)
            try transaction.put(first, key: [key, key &* 37, round & 1], value: value)
            try transaction.delete(first, key: [key &+ round, (key &+ round) &* 37, 0])
          }
          try transaction.put(second, key: [round], value: [1])
        }
      }
    }
    return (path, try [UInt8](Data(contentsOf: URL(fileURLWithPath: path + "/data.mdb"))))
  }

  private func write(_ bytes: [UInt8], to path: String) throws {
    try Data(bytes).write(to: URL(fileURLWithPath: path + "/data.mdb"))
  }

  @Test func aSoundFileHasNoProblemsAndEveryPageIsAccountedFor() throws {
    try withTemporaryFolder { folder in
      let (path, bytes) = try makeFile(in: folder)
      let report = try PageFile.verify(folder: path)
      #expect(report.problems.isEmpty)
      #expect(report.pagesLost == 0 && report.pagesFree > 0)
      #expect(report.trees.map(\.name) == ["(free list)", "(main)", "first", "second"])
      let first = report.trees[2]
      #expect(first.depth >= 2 && first.overflowPages > 0 && first.branchPages > 0)
      let used = report.trees.reduce(2 + report.pagesFree) {
        $0 + $1.branchPages + $1.leafPages + $1.overflowPages
      }
      #expect(used == report.pagesTotal && used * report.pageSize == bytes.count)
    }
  }

  @Test func aCutFileIsRefusedWhereverItIsCut() throws {
    try withTemporaryFolder { folder in
      let (path, bytes) = try makeFile(in: folder)
      for end in stride(from: 1, to: bytes.count, by: 1_021) {
        try write(Array(bytes[..<end]), to: path)
        let opened = try code { _ = try Environment.open(at: path) }
        let report = try PageFile.verify(folder: path)
        if report.problems.isEmpty {
          // What is missing is free; LMDB may open it, and must come through. The first bytes are
          // zeros, like those that a crash during the creation leaves.
          #expect(opened == (end < 11 ? .storeMissing : nil), "cut at \(end)")
        } else {
          #expect(opened == .damaged || (opened == .notAStore && end < 152), "cut at \(end)")
        }
      }
      try write([], to: path)
      #expect(try PageFile.verify(folder: path).problems.isEmpty)
      try write([UInt8](repeating: 0, count: 20_000), to: path)
      #expect(try code { _ = try Environment.open(at: path) } == .storeMissing)
      #expect(try PageFile.verify(folder: path).problems.isEmpty)
      try write([UInt8](repeating: 7, count: 20_000), to: path)
      #expect(try code { _ = try Environment.open(at: path) } == .notAStore)
      #expect(try PageFile.verify(folder: path).problemsTotal > 0)
    }
  }

  @Test(arguments: [11, 12, 13] as [UInt64])
  func flippedBytesNeverCrashTheReader(seed: UInt64) throws {
    try withTemporaryFolder { folder in
      let (path, sound) = try makeFile(in: folder)
      let file = try FileHandle(forUpdating: URL(fileURLWithPath: path + "/data.mdb"))
      defer { try? file.close() }
      var random = SeededRandom(seed: seed)
      var unnoticed = 0
      for round in 0..<700 {
        let places = (0..<Int.random(in: 1...3, using: &random)).map { _ in
          place(in: sound, &random)
        }
        for place in places {
          let byte =
            Bool.random(using: &random)
            ? sound[place] ^ (1 << UInt8.random(in: 0..<8, using: &random))
            : UInt8.random(in: 0...255, using: &random)
          try file.seek(toOffset: UInt64(place))
          try file.write(contentsOf: [byte])
        }
        let report = try PageFile.verify(folder: path, limit: 3)
        #expect(report.problems.count <= 3 && report.problemsTotal >= report.problems.count)
        // A sample, as a process costs more than all the rest of a round.
        if report.problems.isEmpty, unnoticed < 12 {
          unnoticed += 1
          let child = try ChildProcess(
            childExecutable(named: "store-child"), ["lmdb-walk", path])
          let exit = child.waitForExit()
          #expect(
            exit == .init(status: 0, wasSignal: false), "seed \(seed), round \(round): \(places)")
        }
        for place in places {
          try file.seek(toOffset: UInt64(place))
          try file.write(contentsOf: [sound[place]])
        }
      }
      #expect(try PageFile.verify(folder: path).problems.isEmpty)
      #expect(unnoticed > 0)
    }
  }

  /// Half of the flips go where the structure is: headers, offsets, meta pages.
  private func place(in bytes: [UInt8], _ random: inout SeededRandom) -> Int {
    let pages = bytes.count / 4_096
    let page = Int.random(in: 0..<pages, using: &random)
    let reach = Bool.random(using: &random) ? 64 : page < 2 ? 152 : 4_096
    return page * 4_096 + Int.random(in: 0..<reach, using: &random)
  }

  @Test func filesOfNoiseAreReportedAndNeverCrash() throws {
    try withTemporaryFolder { folder in
      let (path, sound) = try makeFile(in: folder)
      var random = SeededRandom(seed: 21)
      for _ in 0..<60 {
        // Sound meta pages, so that the walk goes into the noise.
        var bytes = sound
        let begin = Int.random(in: 8_192..<bytes.count, using: &random)
        for index in begin..<min(begin + 20_000, bytes.count) {
          bytes[index] = UInt8(truncatingIfNeeded: random.next())
        }
        try write(bytes, to: path)
        _ = try PageFile.verify(folder: path)
      }
      for count in [0, 1, 151, 152, 4_096, 8_192, 50_000] {
        try write(random.bytes(count: count), to: path)
        #expect(try (PageFile.verify(folder: path).problemsTotal > 0) == (count > 0))
      }
    }
  }

  @Test func aDamagedLastCommitIsReportedAndThePreviousOneIsChecked() throws {
    try withTemporaryFolder { folder in
      var (path, bytes) = try makeFile(in: folder)
      let newest = try #require(PageFile.verify(folder: path).transactionID)
      // The magic of the newest meta page: commits alternate between page 0 and page 1.
      bytes[(newest & 1) * 4_096 + 16] ^= 0xff
      try write(bytes, to: path)
      let report = try PageFile.verify(folder: path)
      #expect(report.transactionID == newest - 1)
      #expect(report.problems.first?.text == "the meta page bears no mark of LMDB")
      #expect(try code { _ = try Environment.open(at: path) } == .damaged)
    }
  }

  @Test func anOverwrittenTreeOfTreesIsRefusedAtOpen() throws {
    try withTemporaryFolder { folder in
      let (path, sound) = try makeFile(in: folder)
      let newest = try #require(PageFile.verify(folder: path).transactionID) & 1
      let root = sound[(newest * 4_096 + 128)...].prefix(8).reversed().reduce(0) {
        $0 << 8 | Int($1)
      }
      var bytes = sound
      for index in root * 4_096..<root * 4_096 + 4_096 { bytes[index] = 0xa5 }
      try write(bytes, to: path)
      #expect(try code { _ = try Environment.open(at: path) } == .damaged)
      #expect(try PageFile.verify(folder: path).problems.first?.page == root)
    }
  }

  @Test func anAssertionOfLMDBEndsTheProcessWithTheExitCodeForDamage() throws {
    try withTemporaryFolder { folder in
      var (path, bytes) = try makeFile(in: folder)
      // A branch page of one child, which LMDB asserts not to exist.
      for page in stride(from: 8_192, to: bytes.count, by: 4_096) where bytes[page + 10] == 1 {
        bytes[page + 12] = 18
        bytes[page + 13] = 0
      }
      try write(bytes, to: path)
      let child = try ChildProcess(childExecutable(named: "store-child"), ["lmdb-walk", path])
      #expect(child.readErrors().contains("the store is damaged"))
      #expect(child.waitForExit() == .init(status: 65, wasSignal: false))
    }
  }

  /// LMDB changes a page in a copy on the heap, with the sizes and offsets that the page gives.
  @Test(arguments: [21] as [UInt64])
  func aWriteToADamagedPageEndsWithAnErrorAndNeverByASignal(seed: UInt64) throws {
    try withTemporaryFolder { folder in
      let (path, sound) = try makeFile(in: folder)
      let leaves = stride(from: 8_192, to: sound.count, by: 4_096).filter { sound[$0 + 10] <= 2 }
      var random = SeededRandom(seed: seed)
      var statuses: [Int32: Int] = [:]
      for round in 0..<80 {
        var bytes = sound
        // The bounds of the page, and the offsets of its nodes or a node.
        for leaf in leaves where Bool.random(using: &random) {
          let bound = leaf + Int.random(in: 12..<16, using: &random)
          let place = leaf + Int.random(in: 16..<4_096, using: &random)
          let isBound = Bool.random(using: &random)
          bytes[isBound ? bound : place] = UInt8.random(in: 0...255, using: &random)
        }
        try write(bytes, to: path)
        let child = try ChildProcess(
          childExecutable(named: "store-child"), ["lmdb-rewrite", path, "\(round)"])
        let exit = child.waitForExit()
        statuses[exit.status, default: 0] += 1
        #expect(
          !exit.wasSignal && [0, 1, 65].contains(exit.status),
          "seed \(seed), round \(round): \(exit) \(child.readErrors())")
      }
      #expect(statuses[65, default: 0] > 0, "\(statuses)")
      // The damage that a write could not notice is in the file, and the last one is removed.
      try write(sound, to: path)
      #expect(try PageFile.verify(folder: path).problems.isEmpty)
    }
  }

  @Test func aSnapshotIsVerifiedWhileAnotherProcessWrites() throws {
    try withStore { environment in
      let tree = try environment.makeTree()
      try environment.write { transaction in
        for key in 0..<200 as Range<UInt8> {
          try transaction.put(tree, key: [key], value: [UInt8](repeating: key, count: 300))
        }
      }
      let writer = try ChildProcess(
        childExecutable(named: "store-child"), ["lmdb-write-on", environment.folder])
      #expect(writer.readLine() == "ready")
      for _ in 0..<40 {
        let report = try PageFile.verify(folder: environment.folder, snapshotOf: environment)
        #expect(report.problems.isEmpty)
      }
      try writer.closeInput()
      #expect(writer.waitForExit().status == 0)
    }
  }
}

/// Trees whose keys sort as integers.
@Suite struct IntegerKeyDamageTests {
  /// Keys in an order that differs from that of their bytes.
  private func makeStore(in folder: TemporaryFolder) throws -> String {
    let path = folder.path("store")
    let environment = try Environment.open(
      at: path, options: .init(mapSize: 1 << 30, createIfMissing: true))
    try environment.write { transaction in
      let tree = try environment.createTree(
        named: "numbers", hasIntegerKeys: true, in: transaction)
      for number in 0..<2_000 as Range<UInt64> {
        try withUnsafeBytes(of: number) { key in
          try [UInt8](repeating: 1, count: 20).withUnsafeBytes {
            try transaction.put(tree, key: key, value: $0)
          }
        }
      }
    }
    return path
  }

  @Test func aSoundTreeHasNoProblems() throws {
    try withTemporaryFolder { folder in
      let report = try PageFile.verify(folder: try makeStore(in: folder))
      #expect(report.problems.isEmpty && !report.wasOvertaken)
      #expect(report.trees.last?.name == "numbers" && report.trees.last?.entries == 2_000)
    }
  }

  @Test func aKeyOutOfNumericOrderIsFound() throws {
    try withTemporaryFolder { folder in
      let path = try makeStore(in: folder)
      let file = URL(fileURLWithPath: path + "/data.mdb")
      var bytes = try [UInt8](Data(contentsOf: file))
      // The node of key 1000: no flags, 8 bytes of key, the key. It becomes 1000 + 2^16.
      let node: [UInt8] = [0, 0, 8, 0, 0xe8, 3, 0, 0, 0, 0, 0, 0, 1, 1]
      let place = try #require(bytes.indices.first { bytes[$0...].starts(with: node) })
      bytes[place + 6] = 1
      try Data(bytes).write(to: file)
      let report = try PageFile.verify(folder: path)
      #expect(report.problems.map(\.text) == ["keys are out of order"])
    }
  }
}
