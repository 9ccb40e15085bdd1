import Foundation
import Glibc
import LMDB
import SystemSupport
import TestSupport
import Testing

/// The files of a store's folder, before LMDB opens them by their paths.
@Suite struct StoreFilesTests {
  private static let files = ["data.mdb", "lock.mdb", "writer.turn", "writer.lock"]

  private func makeStore(in folder: TemporaryFolder) throws -> String {
    let path = folder.path("store")
    let environment = try Environment.open(at: path, options: .init(createIfMissing: true))
    let tree = try environment.makeTree()
    try environment.write { try $0.put(tree, key: [1], value: [1]) }
    return path
  }

  private func open(_ path: String, _ access: Environment.Access) throws -> StorageError.Code? {
    try code { _ = try Environment.open(at: path, options: .init(access: access)) }
  }

  @Test(arguments: files) func aLinkedFileIsRefusedAndItsTargetStays(_ name: String) throws {
    try withTemporaryFolder { folder in
      let path = try makeStore(in: folder)
      let victim = folder.path("victim")
      try FileManager.default.moveItem(atPath: path + "/" + name, toPath: victim)
      let before = try Data(contentsOf: URL(fileURLWithPath: victim))
      for makeLink in [symlink, link] {
        #expect(makeLink(victim, path + "/" + name) == 0)
        #expect(try open(path, .readWrite) == .permission)
        if name.hasSuffix(".mdb") { #expect(try open(path, .readOnly) == .permission) }
        #expect(try Data(contentsOf: URL(fileURLWithPath: victim)) == before)
        unlink(path + "/" + name)
      }
      try FileManager.default.moveItem(atPath: victim, toPath: path + "/" + name)
      #expect(try open(path, .readWrite) == nil)
      #expect(try PageFile.verify(folder: path).problems.isEmpty)
    }
  }

  @Test func aReplacedFileThatGotItsSecondNameBeforeAKillLeavesTheStoreUsable() throws {
    try withTemporaryFolder { folder in
      let path = try makeStore(in: folder)
      #expect(link(path + "/data.mdb", path + "/data.mdb.replaced-20260131T120000Z") == 0)
      #expect(try open(path, .readWrite) == nil)
      #expect(try PageFile.verify(folder: path).problems.isEmpty)
    }
  }

  @Test(.enabled(if: geteuid() == 0, "only the administrator can give files to another user"))
  func theAdministratorLeavesFilesThatTheServiceCanUse() throws {
    try withTemporaryFolder { folder in
      let path = folder.path("store")
      #expect(mkdir(path, 0o700) == 0 && chown(path, 4_711, 4_711) == 0)
      let environment = try Environment.open(at: path, options: .init(createIfMissing: true))
      _ = try environment.makeTree()
      for name in Self.files {
        var status = stat()
        #expect(lstat(path + "/" + name, &status) == 0 && status.st_uid == 4_711, "\(name)")
      }
      #expect(try PageFile.verify(folder: path).problems.isEmpty)
    }
  }

  // MARK: A crash during the creation

  /// The file after LMDB has created it: two meta pages that lead to no tree.
  private func createdBytes() throws -> [UInt8] {
    try withTemporaryFolder { folder in
      _ = try Environment.open(at: folder.path("new"), options: .init(createIfMissing: true))
      return try [UInt8](Data(contentsOf: URL(fileURLWithPath: folder.path("new/data.mdb"))))
    }
  }

  private func write(_ bytes: [UInt8], to path: String) throws {
    try Data(bytes).write(to: URL(fileURLWithPath: path + "/data.mdb"))
  }

  @Test func anUncommittedFileIsCreatedAgain() throws {
    let created = try createdBytes()
    let zeros = [UInt8](repeating: 0, count: created.count)
    let page = created.count / 2
    let first = Array(created[..<page])
    let second = Array(created[page...])
    let none = Array(zeros[..<page])
    let images: [[UInt8]] = [
      [], zeros, none, Array([zeros, zeros, zeros].joined()), first,
      Array([first, zeros].joined()), Array([none, second].joined()),
      Array(created[..<(page + 512)]), created,
    ]
    for (number, image) in images.enumerated() {
      try withTemporaryFolder { folder in
        let path = folder.path("store")
        try FileManager.default.createDirectory(
          atPath: path, withIntermediateDirectories: false)
        try write(image, to: path)
        #expect(try PageFile.verify(folder: path).problems.isEmpty, "image \(number)")
        if image != created {
          #expect(try open(path, .readWrite) == .storeMissing, "image \(number)")
          #expect(try [UInt8](Data(contentsOf: URL(fileURLWithPath: path + "/data.mdb"))) == image)
        }
        let environment = try Environment.open(at: path, options: .init(createIfMissing: true))
        let tree = try environment.makeTree()
        try environment.write { try $0.put(tree, key: [1], value: [9]) }
        #expect(try environment.value(tree, [1]) == [9])
        #expect(try PageFile.verify(folder: path).problems.isEmpty, "image \(number)")
      }
    }
  }

  /// A store with commits whose meta page is lost is damaged, and must not be emptied.
  @Test(arguments: [0, 1]) func aCommittedFileIsNeverEmptied(lost meta: Int) throws {
    try withTemporaryFolder { folder in
      let path = try makeStore(in: folder)
      var bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: path + "/data.mdb")))
      for place in meta * 4_096..<(meta + 1) * 4_096 { bytes[place] = 0 }
      try write(bytes, to: path)
      let opened = try code {
        _ = try Environment.open(at: path, options: .init(createIfMissing: true))
      }
      #expect(opened == .damaged)
      #expect(try [UInt8](Data(contentsOf: URL(fileURLWithPath: path + "/data.mdb"))) == bytes)
    }
  }

  @Test func aCommittedFileThatIsCutIsNeverEmptied() throws {
    try withTemporaryFolder { folder in
      let path = try makeStore(in: folder)
      let bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: path + "/data.mdb")))[..<4_608]
      try write(Array(bytes), to: path)
      let opened = try code {
        _ = try Environment.open(at: path, options: .init(createIfMissing: true))
      }
      #expect(opened == .damaged)
      #expect(try Data(contentsOf: URL(fileURLWithPath: path + "/data.mdb")) == Data(bytes))
    }
  }
}
