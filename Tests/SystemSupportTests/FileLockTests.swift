import Foundation
import SystemSupport
import TestSupport
import Testing

@Suite struct FileLockTests {
  @Test(arguments: [FileLock.Region.file, .bytes(from: 7, count: 1), .bytes(from: 0, count: 0)])
  func anExclusiveLockExcludesAnotherOpenFileUntilItsRelease(_ region: FileLock.Region) throws {
    try withTemporaryFolder { folder in
      let path = folder.path + "/a.lock"
      let first = try FileLock(path)
      let second = try FileLock(path)
      #expect(try first.take(region))
      #expect(try second.isHeld(region))
      #expect(try !second.take(region))
      #expect(try !second.take(region, until: .now + .milliseconds(5)))
      #expect(try FileLock.take(region, of: path) == nil)
      first.release(region)
      #expect(try !second.isHeld(region))
      #expect(try second.take(region))
    }
  }

  @Test(arguments: [FileLock.Region.file, .bytes(from: 7, count: 1)])
  func theEndOfTheObjectFreesTheLock(_ region: FileLock.Region) throws {
    try withTemporaryFolder { folder in
      let path = folder.path + "/a.lock"
      var first: FileLock? = try FileLock(path)
      #expect(try first?.take(region) == true)
      let copy = dup(first?.descriptor ?? -1)  // as a process that is being started has one
      defer { close(copy) }
      first = nil
      #expect(try FileLock.take(region, of: path) != nil)
    }
  }

  @Test func sharedLocksGoTogetherAndOtherBytesAreFree() throws {
    try withTemporaryFolder { folder in
      let path = folder.path + "/a.lock"
      let (first, second) = (try FileLock(path), try FileLock(path))
      #expect(try first.take(.file, .shared))
      #expect(try second.take(.file, .shared))
      #expect(try first.take(.bytes(from: 1, count: 1)))
      #expect(try second.take(.bytes(from: 2, count: 1)))
      #expect(try !second.isHeld(.byte(hash: -1)))
    }
  }

  @Test func aWaitEndsWithTheReleaseOrTheCancellation() throws {
    try withTemporaryFolder { folder in
      let path = folder.path + "/a.lock"
      let (first, second) = (try FileLock(path), try FileLock(path))
      #expect(try first.take())
      var asked = 0
      let isTaken = try second.take(until: .now + .seconds(60)) {
        asked += 1
        return asked == 3
      }
      #expect(!isTaken && asked == 3)
      let isFree = try second.take(until: .now + .seconds(60)) {
        first.release()
        return false
      }
      #expect(isFree)
    }
  }

  @Test func aRefusalHasTheNumberOfTheSystem() throws {
    try withTemporaryFolder { folder in
      #expect(throws: SystemError(ENOENT)) { try FileLock(folder.path + "/none", .existing) }
      #expect(throws: SystemError(ENOENT)) { try FileLock(folder.path + "/none/a", .create) }
      #expect(throws: SystemError(ENOTDIR)) {
        _ = try FileLock(folder.path + "/a")
        _ = try FileLock(folder: folder.path + "/a")
      }
      #expect(throws: SystemError(EEXIST)) { try FileLock(folder.path + "/a", .createNew) }
    }
  }

  @Test func theHolderSignsTheFile() throws {
    try withTemporaryFolder { folder in
      let lock = try FileLock(folder.path + "/a.lock")
      #expect(lock.lastHolder == nil)
      lock.setText(Array(repeating: UInt8(ascii: "x"), count: 600))
      lock.sign()
      #expect(lock.lastHolder?.pid == String(getpid()))
      #expect(lock.lastHolder?.command == CommandLine.arguments.joined(separator: " ").prefixOfLine)
    }
  }

  @Test(arguments: [
    ("12\tmooring sync\n", "12", "mooring sync"), ("12\n", "12", ""), ("12 ended\n", "12", ""),
    ("12", "12", ""), ("12\ta\u{1B}b\n34\tc", "12", "ab"),
  ])
  func aLineNamesTheHolder(_ text: String, _ pid: String, _ command: String) {
    let holder = LockHolder(text: Array(text.utf8))
    #expect(holder?.pid == pid && holder?.command == command)
  }

  @Test(arguments: ["", "\n12\n", "mooring", "12x", "12345678901\tx", "-1\tx"])
  func otherTextsNameNoHolder(_ text: String) {
    #expect(LockHolder(text: Array(text.utf8)) == nil)
  }
}

extension String {
  /// The part of the text that fits into the line of a lock file after the process id.
  fileprivate var prefixOfLine: String {
    String(decoding: utf8.prefix(511 - "\(getpid())\t".utf8.count), as: UTF8.self)
  }
}
