import Foundation
import TestSupport
import Testing

@Suite struct MigrateNewTests {
  @Test func theNextNumberIsWrittenWithWhatItRequires() throws {
    try withTemporaryFolder { folder in
      let (store, path) = (folder.path("store"), folder.path("migrations"))
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
      let first = try migrate("new", "local", "episode_notes", store: store)
      #expect(first.output == "\(path)/0001_episode_notes.yaml\n")
      #expect(first.errors.hasPrefix("mooring: number 1, because it is the first of local;"))
      let second = try migrate("new", "local", "more", "--dir", path, store: store)
      #expect(second.output == "\(path)/0002_more.yaml\n")
      #expect(
        second.errors.contains("number 2, because 0001_episode_notes is the last one of local"))
      let other = try migrate("new", "other", "more", store: store)
      #expect(other.output == "\(path)/0001_more.yaml\n")
      let text = try String(contentsOfFile: path + "/0001_more.yaml", encoding: .utf8)
      #expect(text.contains("\nrequires: [homefeed@4, local@2]\n"))
      #expect(text.contains("\nline: other\nsummary: more\n"))
      // What was written can be read.
      #expect(try migrate("plan", store: store).errors.contains("has no steps yet") == true)
      #expect(!FileManager.default.fileExists(atPath: store))
    }
  }

  @Test func nothingIsOverwrittenAndNoLineIsSplit() throws {
    try withTemporaryFolder { folder in
      let (store, path) = (folder.path("store"), folder.path("migrations"))
      expectFailure(try migrate("new", "local", "x", "--dir", path, store: store), 78, path)
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
      expectFailure(
        try migrate("new", "homefeed", "x", store: store), 64, "line homefeed are not in \(path)")
      expectFailure(try migrate("new", "system", "x", store: store), 64, "system")
      expectFailure(
        try migrate("new", "Local", "x", store: store), 64, "not a valid name of a line")
      expectFailure(try migrate("new", "local", "../x", store: store), 64, "a-z, 0-9 and _")
      expectFailure(try mooring("migrate", "new", "local", "x", store: store), 64, "--dir DIR")
      let file = path + "/0001_x.yaml"
      try Data("line: a\nsummary: b\nsteps: []\n".utf8).write(to: URL(fileURLWithPath: file))
      expectFailure(try migrate("new", "local", "x", store: store), 73, "is there already")
      #expect(try String(contentsOfFile: file, encoding: .utf8).hasPrefix("line: a\n"))
    }
  }
}
