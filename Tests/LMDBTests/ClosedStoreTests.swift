import Foundation
import LMDB
import SystemSupport
import TestSupport
import Testing

/// A store that no process has open, and the replacement of its data file.
@Suite struct ClosedStoreTests {
  private static let executable = childExecutable(named: "store-child")

  /// A store whose one value is `value`.
  private func makeStore(_ path: String, value: UInt8, commits: Int = 1) throws {
    let environment = try Environment.open(
      at: path, options: .init(createIfMissing: true, flushesCommits: false))
    let tree = try environment.makeTree()
    for _ in 0..<commits {
      try environment.write { try $0.put(tree, key: [1], value: [value]) }
    }
  }

  private func startWalkers(of path: String) throws -> [ChildProcess] {
    try (0..<4).map { _ in try ChildProcess(Self.executable, ["lmdb-walk", path]) }
  }

  private func requireClosed(_ path: String) throws {
    try Environment.whileClosed(path, within: .zero) { _ in }
  }

  @Test func theErrorNamesTheProcessThatHasTheStoreOpen() throws {
    try withTemporaryFolder { folder in
      let path = folder.path("store")
      try makeStore(path, value: 1)
      for command in ["lmdb-hold-reader", "lmdb-hold-writer"] {
        let child = try ChildProcess(Self.executable, [command, path])
        _ = child.readLine()
        do {
          try requireClosed(path)
          Issue.record("it is open")
        } catch let error as StorageError {
          #expect(error.code == .busy)
          #expect(error.description.contains("pid: \(child.pid)"), "\(error)")
        }
        child.kill()
      }
      try requireClosed(path)
    }
  }

  @Test func thisProcessMustHaveReleasedIt() throws {
    try withTemporaryFolder { folder in
      let path = folder.path("store")
      try makeStore(path, value: 1)
      do {
        let environment = try Environment.open(at: path)
        let outcome = try code { try requireClosed(path) }
        #expect(outcome == .busy)
        // Its locks are untouched: another process still sees its reader.
        try environment.read { _ in }
      }
      try requireClosed(path)
    }
  }

  /// The numbers of the commits of both files differ in both directions and in their parity, by
  /// which LMDB chooses the meta page.
  @Test(arguments: [(1, 8), (8, 1), (2, 9), (9, 2)])
  func openersWaitAndFindTheNewFile(old: Int, new: Int) throws {
    try withTemporaryFolder { folder in
      let (path, other) = (folder.path("store"), folder.path("other"))
      try makeStore(path, value: 1, commits: old)
      try makeStore(other, value: 50, commits: new)
      let openers = try Environment.whileClosed(path, within: .zero) { closed in
        let openers = try startWalkers(of: path)
        try closed.replaceData(with: other + "/data.mdb", keepingAs: path + "/kept")
        return openers
      }
      for opener in openers {
        #expect(opener.readLine() == "walked 50")
        #expect(opener.waitForExit().status == 0)
      }
      let environment = try Environment.open(at: path)
      let tree = try environment.makeTree()
      try environment.write { try $0.put(tree, key: [1], value: [51]) }
      try environment.read { transaction in
        try #expect(transaction.get(tree, [1])?.first == 51)
      }
      #expect(try PageFile.verify(folder: path, snapshotOf: environment).problemsTotal == 0)
      #expect(FileManager.default.fileExists(atPath: path + "/kept"))
    }
  }

  /// A foreign program takes no part in the gate: it may find an error, and never the wrong page.
  @Test func aReaderThatHadOpenedTheLockFileGetsNoStaleTable() throws {
    try withTemporaryFolder { folder in
      let (path, other) = (folder.path("store"), folder.path("other"))
      try makeStore(path, value: 1, commits: 9)
      try makeStore(other, value: 50, commits: 2)
      try Environment.whileClosed(path, within: .zero) { closed in
        try closed.replaceData(with: other + "/data.mdb", keepingAs: nil)
      }
      let size = try FileManager.default.attributesOfItem(atPath: path + "/lock.mdb")[.size]
      #expect(size as? Int == 0)
    }
  }

  @Test func aCopyThatIsOvertakenByAWriterLeavesNoFile() throws {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    let (path, target) = (folder.path("store"), folder.path("copy.mdb"))
    try makeStore(path, value: 1)
    do {
      // The file is smaller than what is copied at a time, so that this is called once.
      try DataFile.copy(from: path + "/data.mdb", to: target) { _ in
        let child = try ChildProcess(Self.executable, ["lmdb-create-tree", path, "more"])
        child.waitForExit()
      }
      Issue.record("the copy is of two states")
    } catch let error as StorageError {
      #expect(error.code == .busy)
    }
    #expect(!FileManager.default.fileExists(atPath: target))
  }
}
