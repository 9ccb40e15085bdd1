import Foundation
import LMDB
import SystemSupport
import TestSupport
import Testing

@Suite struct EnvironmentTests {
  @Test func aFolderIsOpenedOncePerProcess() throws {
    try withTemporaryFolder { folder in
      let path = folder.path("store")
      var first: Environment? = try Environment.open(
        at: path, options: .init(createIfMissing: true))
      let link = folder.path("link")
      try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
      #expect(try Environment.open(at: link) === first)
      let tree = try first!.makeTree()
      try first!.write { try $0.put(tree, key: [1], value: [1]) }
      first = nil
      let second = try Environment.open(at: path)
      try second.read { transaction in
        let tree = try #require(try second.tree(named: "tree", in: transaction))
        try #expect(transaction.get(tree, [1]).map(Array.init) == [1])
      }
    }
  }

  @Test func openingAndClosingFromManyThreadsEndsWithOneEnvironment() throws {
    try withTemporaryFolder { folder in
      let path = folder.path("store")
      _ = try Environment.open(at: path, options: .init(createIfMissing: true)).makeTree()
      DispatchQueue.concurrentPerform(iterations: 64) { _ in
        #expect(throws: Never.self) {
          let environment = try Environment.open(at: path)
          try environment.read { try #expect(environment.treeNames(in: $0) == ["tree"]) }
        }
      }
    }
  }

  @Test func theFolderAndItsFilesAreTheOwnersAlone() throws {
    try withStore { environment in
      _ = try environment.makeTree()
      let manager = FileManager.default
      let mode = { (path: String) in
        try manager.attributesOfItem(atPath: path)[.posixPermissions] as? Int
      }
      #expect(try mode(environment.folder) == 0o700)
      let files = try manager.contentsOfDirectory(atPath: environment.folder).sorted()
      #expect(files == ["data.mdb", "lock.mdb", "writer.lock", "writer.turn"])
      for file in files { #expect(try mode(environment.folder + "/" + file) == 0o600) }
    }
  }

  @Test func aPathThatHoldsNoStoreIsNamedForWhatItIs() throws {
    try withTemporaryFolder { folder in
      let open = { (name: String) in
        try code { _ = try Environment.open(at: folder.path(name)) }
      }
      try #expect(open("missing") == .storeMissing)
      #expect(!FileManager.default.fileExists(atPath: folder.path("missing")))
      try FileManager.default.createDirectory(
        atPath: folder.path("empty"), withIntermediateDirectories: false)
      try #expect(open("empty") == .storeMissing)
      try Data("hello".utf8).write(to: folder.url.appendingPathComponent("file"))
      try #expect(open("file") == .notAFolder)
      try #expect(open("file/below") == .notAFolder)
      try FileManager.default.createDirectory(
        atPath: folder.path("text"), withIntermediateDirectories: false)
      let text = Data(String(repeating: "not a store. ", count: 2_000).utf8)
      try text.write(to: folder.url.appendingPathComponent("text/data.mdb"))
      try #expect(open("text") == .notAStore)
    }
  }

  @Test func anEmptyDataFileIsFilled() throws {
    try withTemporaryFolder { folder in
      let path = folder.url.appendingPathComponent("data.mdb")
      try Data().write(to: path)
      let environment = try Environment.open(
        at: folder.path, options: .init(createIfMissing: true))
      let tree = try environment.makeTree()
      try environment.write { try $0.put(tree, key: [1], value: [1]) }
      try #expect(environment.value(tree, [1]) == [1])
    }
  }

  @Test func aFullReaderTableIsAnErrorAndASlotThatIsGivenBackServesTheNext() throws {
    try withStore(
      options: .init(mapSize: 1 << 30, readersMax: 4, createIfMissing: true)
    ) { environment in
      var open: [TreeReader] = []
      defer { for transaction in open { environment.endRead(transaction) } }
      for _ in 0..<4 { open.append(try environment.beginRead()) }
      try #expect(code { _ = try environment.beginRead() } == .readersFull)
      environment.endRead(open.removeLast())
      open.append(try environment.beginRead())
      #expect(try environment.information().readersInUse == 4)
      // The check of the pages at the end needs one.
      environment.endRead(open.removeLast())
    }
  }

  @Test func aFullMapIsAnErrorAndTheStoreStaysUsable() throws {
    try withStore(options: .init(mapSize: 1 << 20, createIfMissing: true)) { environment in
      let tree = try environment.makeTree()
      let fill = { (transaction: TreeWriter) in
        for key in 0..<255 {
          try transaction.put(
            tree, key: [UInt8(key)], value: [UInt8](repeating: 1, count: 8_000))
        }
      }
      try #expect(code { try environment.write(fill) } == .mapFull)
      // A caller that swallows the error gets it again from the commit.
      let swallowed = try code {
        try environment.write { transaction in
          do { try fill(transaction) } catch is StorageError {}
        }
      }
      #expect(swallowed == .mapFull)
      try environment.write { transaction in
        try #expect(code { try transaction.nested(fill) } == .mapFull)
        try transaction.put(tree, key: [1], value: [1])
      }
      try #expect(environment.value(tree, [1]) == [1])
    }
  }

  @Test func moreTreesThanAllowedAreRefused() throws {
    try withStore(options: .init(mapSize: 1 << 30, treesMax: 2, createIfMissing: true)) {
      environment in
      _ = try environment.makeTree("a")
      _ = try environment.makeTree("b")
      try #expect(code { _ = try environment.makeTree("c") } == .tooManyTrees)
      try #expect(code { _ = try environment.makeTree("") } == .keyInvalid)
    }
  }

  @Test func aStoreWithManyTreesIsOpenedWithRoomForMore() throws {
    try withTemporaryFolder { folder in
      let path = folder.path("store")
      do {
        let environment = try Environment.open(
          at: path, options: .init(mapSize: 1 << 30, treesMax: 20, createIfMissing: true))
        for number in 0..<20 { _ = try environment.makeTree("tree\(number)") }
      }
      let environment = try Environment.open(
        at: path, options: .init(mapSize: 1 << 30, treesMax: 10))
      #expect(environment.options.treesMax >= 20)
      let tree = try environment.makeTree("another")
      try environment.write { try $0.put(tree, key: [1], value: [1]) }
      try environment.read { try #expect(environment.treeNames(in: $0).count == 21) }
    }
  }

  @Test func aReadOnlyEnvironmentReadsAndRefusesToWrite() throws {
    try withTemporaryFolder { folder in
      let path = folder.path("store")
      do {
        let environment = try Environment.open(at: path, options: .init(createIfMissing: true))
        let tree = try environment.makeTree()
        try environment.write { try $0.put(tree, key: [1], value: [1]) }
      }
      let environment = try Environment.open(at: path, options: .init(access: .readOnly))
      try environment.read { transaction in
        let tree = try #require(try environment.tree(named: "tree", in: transaction))
        try #expect(transaction.get(tree, [1]).map(Array.init) == [1])
      }
      try #expect(code { try environment.write { _ in } } == .readOnly)
      try #expect(code { _ = try Environment.open(at: path) } == .programming)
    }
  }

  @Test(arguments: [false, true]) func aCopyHoldsTheLastCommit(compacting: Bool) throws {
    try withStore { environment in
      let tree = try environment.makeTree()
      for round in 0..<20 {
        try environment.write { transaction in
          let value = [UInt8](repeating: UInt8(round), count: 9_000)
          try transaction.put(tree, key: [UInt8(round % 3)], value: value)
        }
      }
      try withTemporaryFolder { folder in
        let target = folder.path("copy")
        try environment.copy(toFolder: target, compacting: compacting)
        let copy = try Environment.open(at: target)
        try copy.read { transaction in
          let tree = try #require(try copy.tree(named: "tree", in: transaction))
          try #expect(transaction.count(tree) == 3)
          try #expect(transaction.get(tree, [1])?.first == 19)
          if compacting { try #expect(copy.freePages(in: transaction) == 0) }
        }
        try #expect(PageFile.verify(folder: target).problemsTotal == 0)
        let again = try code { try environment.copy(toFolder: target, compacting: compacting) }
        #expect(again == .programming)
      }
    }
  }

  @Test func readersOnManyThreadsSeeWholeCommits() throws {
    try withStore(
      options: .init(mapSize: 1 << 30, createIfMissing: true, flushesCommits: false)
    ) { environment in
      let tree = try environment.makeTree()
      DispatchQueue.concurrentPerform(iterations: 4) { thread in
        #expect(throws: Never.self) {
          for round in 0..<300 {
            if thread == 0 {
              try environment.write { transaction in
                for key in 0..<8 as Range<UInt8> {
                  try transaction.put(tree, key: [key], value: [UInt8(round & 0xff)])
                }
                if round % 50 == 0 {
                  let made = try environment.createTree(named: "t\(round)", in: transaction)
                  try transaction.put(made, key: [1], value: [1])
                }
              }
            } else {
              try environment.read { transaction in
                let values = try (0..<8).map { try transaction.get(tree, [$0])?.first }
                #expect(values.allSatisfy { $0 == values[0] })
                for name in try environment.treeNames(in: transaction) {
                  let tree = try #require(try environment.tree(named: name, in: transaction))
                  try #expect(name == "tree" || transaction.count(tree) == 1)
                }
              }
            }
          }
        }
      }
    }
  }
}
