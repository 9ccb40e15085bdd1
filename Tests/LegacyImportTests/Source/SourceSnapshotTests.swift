import Foundation
import TestSupport
import Testing

@testable import LegacyImport

struct SourceSnapshotTests {
  private let sql =
    "CREATE TABLE episode (id INTEGER PRIMARY KEY, title); INSERT INTO episode VALUES (1, 'a'), (2, 'b');"

  @Test func theCopyEqualsTheFileAndIsRemovedWithItsOwner() throws {
    try withTemporaryFolder { folder in
      let path = folder.path("made.sqlite")
      try MadeDatabase.make(at: path, sql)
      var snapshot: SourceSnapshot? = try SourceSnapshot.take(of: path, in: folder.path)
      let copy = try #require(snapshot?.copy)
      #expect(try Data(contentsOf: URL(filePath: copy)) == Data(contentsOf: URL(filePath: path)))
      #expect(snapshot?.report.header?.pageSize == 4096)
      #expect(snapshot?.report.fingerprint.count == 32)
      snapshot = nil
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["made.sqlite"])
    }
  }

  @Test func readingLeavesTheSourceAsItWas() throws {
    try withTemporaryFolder { folder in
      try withTemporaryFolder { scratch in
        let path = folder.path("made.sqlite")
        let writer = try OpenDatabase(path)
        try writer.run("PRAGMA journal_mode = WAL; " + sql)
        let before = try FolderState(folder.path)
        let database = try SourceDatabase(SourceSnapshot.take(of: path, in: scratch.path))
        let table = try #require(database.table("episode"))
        #expect(try database.rows(of: table, columns: ["title"]).all().count == 2)
        #expect(try FolderState(folder.path) == before)
      }
    }
  }

  @Test func aReadOnlyFolderIsSupported() throws {
    try withTemporaryFolder { folder in
      try withTemporaryFolder { scratch in
        let path = folder.path("made.sqlite")
        try MadeDatabase.make(at: path, "PRAGMA journal_mode = WAL; " + sql)
        try setMode(0o500, folder.path)
        defer { try? setMode(0o700, folder.path) }
        let database = try SourceDatabase(SourceSnapshot.take(of: path, in: scratch.path))
        #expect(try database.count(#require(database.table("episode"))) == 2)
      }
    }
  }

  private func setMode(_ mode: Int, _ path: String) throws {
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
  }

  @Test func whatIsNoFileIsNamed() throws {
    try withTemporaryFolder { folder in
      #expect(code(folder.path("none")) == .missing)
      #expect(code(folder.path) == .unreadable)
      let fifo = folder.path("fifo")
      #expect(mkfifo(fifo, 0o600) == 0)
      #expect(code(fifo) == .unreadable)
    }
  }

  private func code(_ path: String) -> ImportError.Code? {
    do {
      _ = try SourceSnapshot.take(of: path)
      return nil
    } catch { return (error as? ImportError)?.code }
  }

  @Test func aLinkIsFollowedAndTheLogLiesBesideItsTarget() throws {
    try withTemporaryFolder { folder in
      try withTemporaryFolder { scratch in
        let path = folder.path("made.sqlite")
        let writer = try OpenDatabase(path)
        try writer.run("PRAGMA journal_mode = WAL; " + sql)
        let link = scratch.path("link.sqlite")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
        let snapshot = try SourceSnapshot.take(of: link, in: scratch.path)
        #expect(snapshot.source.hasSuffix("made.sqlite"))
        #expect(snapshot.report.writeAheadLog?.committedFrames ?? 0 > 0)
      }
    }
  }

  @Test func aLogThatIsALinkIsNotFollowed() throws {
    try withTemporaryFolder { folder in
      let path = folder.path("made.sqlite")
      try MadeDatabase.make(at: path, sql)
      try FileManager.default.createSymbolicLink(
        atPath: path + "-wal", withDestinationPath: "/etc/passwd")
      #expect(code(path) == .unreadable)
    }
  }

  @Test func anEmptyFileIsADatabaseWithoutTables() throws {
    try withTemporaryFolder { folder in
      let path = folder.path("empty.sqlite")
      try Data().write(to: URL(filePath: path))
      let snapshot = try SourceSnapshot.take(of: path, in: folder.path)
      #expect(snapshot.report.notes.contains { $0.contains("empty") })
      #expect(try SourceDatabase(snapshot).tables.isEmpty)
    }
  }

  @Test(arguments: [
    ("plain words, and no database", "text"), ("<!DOCTYPE html><html>404", "a page of the web"),
    ("version https://git-lfs.github.com/spec/v1\noid", "a Git LFS pointer"), ("\u{1f}\u{8b}", ""),
    ("BEGIN TRANSACTION;\nCREATE TABLE t", "SQL text"), ("PK\u{3}\u{4}", "a zip archive"),
  ])
  func otherFilesAreNamed(content: String, name: String) throws {
    try withTemporaryFolder { folder in
      let path = folder.path("other")
      try Data(content.utf8).write(to: URL(filePath: path))
      let error = try #require(throws: ImportError.self) { try SourceSnapshot.take(of: path) }
      #expect(error.code == .notADatabase)
      #expect(error.description.contains("looks like: " + name), "\(error)")
    }
  }

  @Test func randomBytesMayBeAnEncryptedFile() throws {
    try withTemporaryFolder { folder in
      var random = SeededRandom(seed: 7)
      let path = folder.path("secret")
      try Data(random.bytes(count: 16_384)).write(to: URL(filePath: path))
      #expect(code(path) == .encrypted)
    }
  }

  @Test func theCopyOfAKilledProcessIsRemovedByTheNextRun() throws {
    try withTemporaryFolder { folder in
      let path = folder.path("made.sqlite")
      try MadeDatabase.make(at: path, sql)
      let killed = folder.path("mooring-import-killed")
      try FileManager.default.createDirectory(atPath: killed, withIntermediateDirectories: false)
      for name in ["lock", "source.sqlite"] {
        try Data().write(to: URL(filePath: killed + "/" + name))
      }
      let held = try SourceSnapshot.take(of: path, in: folder.path)
      #expect(!FileManager.default.fileExists(atPath: killed))
      _ = try SourceSnapshot.take(of: path, in: folder.path)
      #expect(FileManager.default.fileExists(atPath: held.copy))
    }
  }

  @Test func aCancelledCopyLeavesNothing() throws {
    try withTemporaryFolder { folder in
      let path = folder.path("made.sqlite")
      try MadeDatabase.make(at: path, sql)
      #expect(throws: CancellationError.self) {
        try SourceSnapshot.take(of: path, in: folder.path, isCancelled: { true })
      }
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["made.sqlite"])
    }
  }
}
