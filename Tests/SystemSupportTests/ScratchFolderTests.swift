import Foundation
import SystemSupport
import TestSupport
import Testing

@Suite struct ScratchFolderTests {
  @Test func aFolderIsRemovedWithItsOwner() throws {
    try withTemporaryFolder { parent in
      var folder: ScratchFolder? = try .create(prefix: "test-", in: parent.path)
      let path = try #require(folder?.path)
      #expect(path.hasPrefix(parent.path + "/test-"))
      try Data().write(to: URL(fileURLWithPath: path + "/file"))
      folder = nil
      #expect(!FileManager.default.fileExists(atPath: path))
    }
  }

  @Test func leftoversOfAKilledRunAreRemovedByTheNext() throws {
    try withTemporaryFolder { parent in
      let held = try ScratchFolder.create(prefix: "test-", in: parent.path)
      // The lock of a killed process is there and is not held.
      for name in ["test-killed", "other-killed"] {
        try Self.makeFolder(name, in: parent.path)
        for file in ["lock", "copy"] {
          try Data().write(to: URL(fileURLWithPath: "\(parent.path)/\(name)/\(file)"))
        }
      }
      let next = try ScratchFolder.create(prefix: "test-", in: parent.path)
      #expect(
        try Self.folders(in: parent.path)
          == [parent.path + "/other-killed", held.path, next.path])
    }
  }

  @Test func aFolderWithoutALockIsRemovedAfterADay() throws {
    try withTemporaryFolder { parent in
      for name in ["test-new", "test-old"] { try Self.makeFolder(name, in: parent.path) }
      let times = [timespec(tv_sec: 0, tv_nsec: 0), timespec(tv_sec: 0, tv_nsec: 0)]
      #expect(utimensat(AT_FDCWD, parent.path + "/test-old", times, 0) == 0)
      let next = try ScratchFolder.create(prefix: "test-", in: parent.path)
      #expect(try Self.folders(in: parent.path) == [parent.path + "/test-new", next.path])
    }
  }

  @Test func foldersThatAreCreatedAtOnceStay() throws {
    try withTemporaryFolder { parent in
      let path = parent.path
      let made = Locked<[ScratchFolder]>([])
      DispatchQueue.concurrentPerform(iterations: 64) { _ in
        guard let folder = try? ScratchFolder.create(prefix: "test-", in: path) else { return }
        made.withLock { $0.append(folder) }
      }
      let folders = made.withLock { $0 }
      #expect(folders.count == 64)
      let left = try Self.folders(in: path)
      #expect(left.isSuperset(of: folders.map(\.path)))
    }
  }

  @Test func oneRunClaimsAFolderAtATime() throws {
    try withTemporaryFolder { parent in
      let path = parent.path + "/a.partial"
      let first = try #require(try ScratchFolder.claim(path, ownedBy: .ofParent))
      #expect(try ScratchFolder.claim(path, ownedBy: .ofParent) == nil)
      first.release()
      #expect(try ScratchFolder.claim(path, ownedBy: .ofParent) != nil)
      #expect(FileManager.default.fileExists(atPath: path))
    }
  }

  private static func makeFolder(_ name: String, in parent: String) throws {
    try FileManager.default.createDirectory(
      atPath: parent + "/" + name, withIntermediateDirectories: false)
  }

  private static func folders(in parent: String) throws -> Set<String> {
    Set(try FileManager.default.contentsOfDirectory(atPath: parent).map { parent + "/" + $0 })
  }
}
