import Foundation
import Glibc
import LMDB
import SystemSupport
import TestSupport
import Testing

@testable import EntityStore
@testable import Migrations

/// The files that a sort leaves, and the errors of the file system that it reports.
@Suite struct KeyRunFolderTests {
  private let keys: [[UInt8]] = {
    var random = SeededRandom(seed: 31)
    return RandomKeys.short.keys(count: 2_000, &random)
  }()

  @Test func filesAndFolderArePrivateToTheirOwner() throws {
    try withScratchFolder { folder in
      _ = try makeRuns(keys, in: folder, memoryMax: 20_000)
      #expect(try mode(folder.path) == 0o700)
      for name in try scratchFiles(folder) {
        #expect(try mode(folder.path + "/" + name) == 0o600)
      }
    }
  }

  @Test func removingRunsLeavesThoseOfOthers() throws {
    try withScratchFolder { folder in
      let mine = try makeRuns(keys, in: folder, owner: "mine", memoryMax: 20_000)
      let other = try makeRuns(keys, in: folder, owner: "other", memoryMax: 64 << 20)
      try mine.remove(from: folder)
      #expect(try !mine.verify(in: folder))
      #expect(try other.verify(in: folder))
      try mine.remove(from: folder)
      #expect(try scratchFiles(folder).count == 1)
    }
  }

  @Test func aLinkToAnotherFolderIsRefused() throws {
    try withTemporaryFolder { parent in
      let other = KeyRunFolder(ofStore: parent.path("other"))
      try FileManager.default.createDirectory(
        atPath: other.path, withIntermediateDirectories: true)
      let run = URL(fileURLWithPath: other.file(owner: "mine", number: 1))
      try Data([1]).write(to: run)
      let folder = KeyRunFolder(ofStore: parent.path)
      #expect(symlink(other.path, folder.path) == 0)
      #expect(code { try folder.prepare() } == .notPermitted)
      #expect(code { try folder.removeLeftovers() } == .notPermitted)
      #expect(FileManager.default.fileExists(atPath: run.path))
    }
  }

  @Test func leftoversOfDeadSortsAreRemovedAndOtherFilesStay() throws {
    try withScratchFolder { folder in
      let dead = try makeRuns(keys, in: folder, owner: "dead", memoryMax: 20_000)
      let unfinished = KeyRunFolder.unfinished(folder.file(owner: "dead", number: 99))
      let alien = folder.path + "/notes-1.run"
      for path in [unfinished, alien] { try Data([1]).write(to: URL(fileURLWithPath: path)) }
      try folder.removeLeftovers()
      #expect(try !dead.verify(in: folder))
      #expect(try scratchFiles(folder).count == 1)
      #expect(FileManager.default.fileExists(atPath: alien))
    }
  }

  @Test func aMissingFolderHasNoLeftovers() throws {
    try withScratchFolder { try $0.removeLeftovers() }
  }

  @Test func aSortReplacesWhatAnEarlierOneOfItsOwnerLeft() throws {
    try withScratchFolder { folder in
      _ = try makeRuns(keys, in: folder, memoryMax: 5_000)
      let unfinished = KeyRunFolder.unfinished(folder.file(owner: "test", number: 0))
      try Data([1]).write(to: URL(fileURLWithPath: unfinished))
      let runs = try makeRuns(keys, in: folder, memoryMax: 64 << 20)
      #expect(try scratchFiles(folder).count == 1)
      #expect(merged(runs, in: folder).keys == sorted(keys))
    }
  }

  @Test func aSortThatIsGivenUpRemovesItsFiles() throws {
    try withScratchFolder { folder in
      do {
        var writer = try KeyRunWriter(folder: folder, owner: "test", memoryMax: 5_000)
        for key in keys { try key.withUnsafeBytes { try writer.add($0) } }
        #expect(try !scratchFiles(folder).isEmpty)
      }
      #expect(try scratchFiles(folder).isEmpty)
    }
  }

  @Test func everyDescriptorIsClosed() throws {
    try withScratchFolder { folder in
      let runs = try makeRuns(keys, in: folder, memoryMax: 5_000)
      #expect(try openFiles(in: folder) == 0)
      #expect(try runs.verify(in: folder))
      do {
        var merge = try runs.merge(in: folder)
        _ = try merge.next()
        #expect(try openFiles(in: folder) == runs.runs.count)
      }
      #expect(try openFiles(in: folder) == 0)
      // A merge that cannot open its last run closes the others.
      let last = try #require(runs.runs.last)
      try FileManager.default.removeItem(
        atPath: folder.file(owner: "test", number: last.number))
      #expect(merged(runs, in: folder).error?.code == .damaged)
      #expect(try openFiles(in: folder) == 0)
    }
  }

  @Test func aFileInPlaceOfTheFolderIsReported() throws {
    try withTemporaryFolder { store in
      try Data().write(to: URL(fileURLWithPath: store.path("scratch")))
      let error = #expect(throws: StoreError.self) {
        try makeRuns(keys, in: KeyRunFolder(ofStore: store.path), memoryMax: 5_000)
      }
      #expect(error?.code == .notPermitted)
      #expect(error?.description.contains(store.path("scratch")) == true)
    }
  }

  @Test func linksAreNotFollowed() throws {
    try withScratchFolder { folder in
      let runs = try makeRuns(keys, in: folder, memoryMax: 64 << 20)
      let path = folder.file(owner: "test", number: 0)
      let target = folder.path + "/target"
      try FileManager.default.moveItem(atPath: path, toPath: target)
      try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: target)
      #expect(merged(runs, in: folder).error?.code == .notPermitted)
    }
  }

  @Test func aFullDiskIsReportedAndTheSortLeavesNoFile() throws {
    try withTemporaryFolder { store in
      guard let device = try store.mountDevice(size: "64k") else { return }
      defer { unmountDevice(device) }
      let folder = KeyRunFolder(ofStore: device)
      var random = SeededRandom(seed: 32)
      let many = RandomKeys.short.keys(count: 10_000, &random)
      for memoryMax in [60_000, 64 << 20] {
        let error = #expect(throws: StoreError.self) {
          try makeRuns(many, in: folder, memoryMax: memoryMax)
        }
        #expect(error?.code == .diskFull)
        #expect(error?.description.contains(folder.path) == true)
        #expect(error?.description.contains("free some space") == true)
        #expect(try scratchFiles(folder).isEmpty)
      }
      #expect(try makeRuns(Array(many.prefix(500)), in: folder, memoryMax: 60_000).keys == 500)
    }
  }

  @Test func aSortThatFailedOnceFailsAgain() throws {
    try withScratchFolder { folder in
      var writer = try KeyRunWriter(folder: folder, owner: "test", memoryMax: 5_000)
      try FileManager.default.removeItem(atPath: folder.path)
      var failures = 0
      for key in keys {
        do {
          try key.withUnsafeBytes { try writer.add($0) }
        } catch {
          failures += 1
          // What was lost stays lost, though the next run could be written.
          try folder.prepare()
        }
      }
      #expect(failures > 1)
      do {
        _ = try writer.finish()
      } catch {
        failures = -1
      }
      #expect(failures == -1)
    }
  }

  private func mode(_ path: String) throws -> UInt32 {
    var status = stat()
    try #require(stat(path, &status) == 0)
    return status.st_mode & 0o777
  }

  /// The descriptors of this process for files in the folder; other tests have their own.
  private func openFiles(in folder: KeyRunFolder) throws -> Int {
    var count = 0
    for name in try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd") {
      var target = [CChar](repeating: 0, count: 4_096)
      let length = readlink("/proc/self/fd/\(name)", &target, target.count)
      guard length > 0 else { continue }
      let path = String(decoding: target[..<length].map { UInt8(bitPattern: $0) }, as: UTF8.self)
      if path.contains(folder.path) { count += 1 }
    }
    return count
  }
}
