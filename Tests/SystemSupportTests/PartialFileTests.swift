import Foundation
import SystemSupport
import TestSupport
import Testing

@Suite struct PartialFileTests {
  private func write(_ text: String, to file: PartialFile) {
    #expect(Foundation.write(file.descriptor, text, text.utf8.count) == text.utf8.count)
  }

  private func failure(_ path: String, replaces: Bool = false) -> String? {
    do throws(PartialFile.Failure) {
      _ = try PartialFile(path, replaces: replaces)
      return nil
    } catch {
      return "\(error.reason)"
    }
  }

  @Test func aFileGetsItsNameWhenItIsComplete() throws {
    try withTemporaryFolder { folder in
      let path = folder.path("file")
      let file = try PartialFile(path, replaces: false)
      write("complete", to: file)
      #expect(try names(in: folder) == ["file.partial"])
      try file.finish()
      #expect(try names(in: folder) == ["file"])
      #expect(try String(contentsOfFile: path, encoding: .utf8) == "complete")
      let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions]
      #expect(mode as? Int == 0o600)
    }
  }

  @Test func aFileThatIsNotFinishedIsRemoved() throws {
    try withTemporaryFolder { folder in
      do {
        let file = try PartialFile(folder.path("file"), replaces: false)
        write("part", to: file)
        #expect(try names(in: folder) == ["file.partial"])
      }
      #expect(try names(in: folder).isEmpty)
    }
  }

  @Test func thePartOfAKilledProcessIsTakenOver() throws {
    try withTemporaryFolder { folder in
      try Data("a long part of a file".utf8).write(to: URL(filePath: folder.path("file.partial")))
      let file = try PartialFile(folder.path("file"), replaces: false)
      write("new", to: file)
      #expect(failure(folder.path("file")) == "busy")
      try file.finish()
      #expect(try String(contentsOfFile: folder.path("file"), encoding: .utf8) == "new")
    }
  }

  @Test func anExistingFileIsReplacedOnlyIfThatIsWanted() throws {
    try withTemporaryFolder { folder in
      let path = folder.path("file")
      let late = try PartialFile(path, replaces: false)
      try Data("old".utf8).write(to: URL(filePath: path))
      // It was created after the first check.
      do throws(PartialFile.Failure) {
        try late.finish()
        Issue.record("the file was replaced")
      } catch {
        #expect("\(error.reason)" == "exists")
      }
      #expect(failure(path) == "exists")
      #expect(try String(contentsOfFile: path, encoding: .utf8) == "old")
    }
    try withTemporaryFolder { folder in
      let path = folder.path("file")
      try Data("old".utf8).write(to: URL(filePath: path))
      try PartialFile(path, replaces: true).finish()
      #expect(try String(contentsOfFile: path, encoding: .utf8).isEmpty)
      let link = folder.path("link")
      try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
      #expect(failure(link, replaces: true) == "notAFile")
      #expect(failure(link) == "exists")
      #expect(failure(folder.path, replaces: true) == "notAFile")
      #expect(failure(folder.path("none/file"))?.hasPrefix("system") == true)
    }
  }

  private func names(in folder: TemporaryFolder) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
  }
}
