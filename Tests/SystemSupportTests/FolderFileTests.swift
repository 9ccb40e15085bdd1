import Foundation
import Glibc
import SystemSupport
import TestSupport
import Testing

/// The owner of the folders in the tests that need a second user; only the administrator can make
/// them.
private let service: uid_t = 4_711
private let isAdministrator = geteuid() == 0

@Suite struct FolderFileTests {
  private static let openings: [FolderFile.Opening] = [.readOnly, .existing, .create]

  /// Opens a file, closes it again, and returns the reason of a refusal.
  private func refusal(_ path: String, _ opening: FolderFile.Opening) -> String? {
    do throws(SystemError) {
      close(try FolderFile.open(path, opening))
      return nil
    } catch {
      #expect(error.isPermissionDenied, "\(error.text)")
      return error.text
    }
  }

  private func owner(_ path: String) -> uid_t? {
    var status = stat()
    return lstat(path, &status) == 0 ? status.st_uid : nil
  }

  @Test(arguments: openings) func aSymbolicLinkIsNotFollowed(_ opening: FolderFile.Opening) throws {
    try withTemporaryFolder { folder in
      let victim = folder.path("victim")
      try Data("text".utf8).write(to: URL(fileURLWithPath: victim))
      #expect(symlink(victim, folder.path("link")) == 0)
      #expect(refusal(folder.path("link"), opening) == "it is a symbolic link")
      #expect(throws: SystemError.self) { try FolderFile.check(folder.path("link")) }
      #expect(symlink(folder.path("missing"), folder.path("dangling")) == 0)
      #expect(refusal(folder.path("dangling"), opening) == "it is a symbolic link")
      #expect(!FileManager.default.fileExists(atPath: folder.path("missing")))
    }
  }

  @Test(arguments: openings) func onlyARegularFileIsOpened(_ opening: FolderFile.Opening) throws {
    try withTemporaryFolder { folder in
      #expect(mkfifo(folder.path("pipe"), 0o600) == 0)
      #expect(refusal(folder.path("pipe"), opening) == "it is not a regular file")
      #expect(mkdir(folder.path("folder"), 0o700) == 0)
      #expect(refusal(folder.path("folder"), opening) == "it is not a regular file")
    }
  }

  @Test func aHardLinkIsAllowedWithinTheFolderOnly() throws {
    try withTemporaryFolder { folder in
      let store = folder.path("store")
      #expect(mkdir(store, 0o700) == 0)
      close(try FolderFile.open(store + "/a", .createNew))
      #expect(link(store + "/a", store + "/b") == 0)
      #expect(refusal(store + "/a", .existing) == nil)
      #expect(link(store + "/a", folder.path("outside")) == 0)
      let text = "the file has a name outside of the folder, as a hard link"
      #expect(refusal(store + "/a", .existing) == text)
    }
  }

  @Test func aNewFileIsCreatedOnceWithAModeOfItsOwn() throws {
    try withTemporaryFolder { folder in
      let path = folder.path("new")
      close(try FolderFile.open(path, .create))
      close(try FolderFile.open(path, .create))
      var status = stat()
      #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o600)
      #expect(throws: SystemError(EEXIST)) { try FolderFile.open(path, .createNew) }
      #expect(throws: SystemError(ENOENT)) { try FolderFile.open(path + "2", .existing) }
    }
  }

  @Test(.enabled(if: isAdministrator, "only the administrator can give files to another user"))
  func theAdministratorCreatesFilesOfTheFoldersOwner() throws {
    try withTemporaryFolder { folder in
      let store = folder.path("store")
      #expect(mkdir(store, 0o700) == 0 && chown(store, service, service) == 0)
      close(try FolderFile.open(store + "/a", .create))
      try FolderFile.makeFolder(store + "/scratch")
      close(try FolderFile.openFolder(store + "/scratch"))
      #expect(owner(store + "/a") == service && owner(store + "/scratch") == service)
      close(try FolderFile.open(store + "/a", .create))
      try FolderFile.makeFolder(store + "/scratch")
      #expect(throws: SystemError(EEXIST)) { try FolderFile.open(store + "/a", .createNew) }
      let names = try FileManager.default.contentsOfDirectory(atPath: store).sorted()
      #expect(names == ["a", "scratch"])
      #expect(chown(store + "/a", 0, 0) == 0 && chown(store + "/scratch", 0, 0) == 0)
      let text = "it belongs to user 0, and should belong to user 4711"
      #expect(refusal(store + "/a", .existing) == text)
      #expect(throws: SystemError.refusal(text)) { try FolderFile.openFolder(store + "/scratch") }
    }
  }

  @Test func aLinkInThePlaceOfAFolderIsRefused() throws {
    try withTemporaryFolder { folder in
      #expect(mkdir(folder.path("other"), 0o700) == 0)
      #expect(symlink(folder.path("other"), folder.path("scratch")) == 0)
      try FolderFile.makeFolder(folder.path("scratch"))
      #expect(throws: SystemError.refusal("it is not a folder")) {
        try FolderFile.openFolder(folder.path("scratch"))
      }
    }
  }

  @Test func missingFoldersOfAPathAreCreated() throws {
    try withTemporaryFolder { folder in
      #expect(FolderFile.makeFolders(folder.path("a/b/c"))?.error == nil)
      #expect(FolderFile.makeFolders(folder.path("a/b/c"))?.error == nil)
      try FolderFile.flushFolders(folder.path("a/b/c"))
      #expect(throws: SystemError(ENOENT)) { try FolderFile.flushFolders(folder.path("a/x/c")) }
      close(try FolderFile.openFolder(folder.path("a/b/c"), ownedBy: .user))
      close(try FolderFile.open(folder.path("file"), .create))
      #expect(FolderFile.makeFolders(folder.path("file/x"))?.error == SystemError(ENOTDIR))
    }
  }
}
