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

  @Test func leftoversOfAKilledRunAreRemovedAfterADay() throws {
    try withTemporaryFolder { parent in
      let held = try ScratchFolder.create(prefix: "test-", in: parent.path)
      let old = ["test-old", "other-old"].map { parent.path + "/" + $0 }
      for path in old {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
      }
      for path in old + [held.path] {
        let times = [timespec(tv_sec: 0, tv_nsec: 0), timespec(tv_sec: 0, tv_nsec: 0)]
        #expect(utimensat(AT_FDCWD, path, times, 0) == 0)
      }
      let next = try ScratchFolder.create(prefix: "test-", in: parent.path)
      let left = try FileManager.default.contentsOfDirectory(atPath: parent.path).map {
        parent.path + "/" + $0
      }
      #expect(Set(left) == [old[1], held.path, next.path])
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
}
