import Foundation
import TestSupport
import Testing

@testable import LegacyImport

/// External files whose names are in the cells of a store.
@Suite struct ExternalBlobsTests {
  private static let name = "3F2504E0-4F89-41D3-9A0C-0305E82C3301"

  @Test func aValueIsReadFromTheCellOrFromItsFile() throws {
    try withFiles { folder, blobs in
      try write([7, 8, 9], to: Self.name, in: folder)
      #expect(try blobs.value(.blob([1, 5, 6])) == .blob([5, 6]))
      #expect(try blobs.value(.blob([1])) == .blob([]))
      #expect(try blobs.value(.null) == .null)
      #expect(try blobs.value(named(Self.name)) == .blob([7, 8, 9]))
      #expect(try blobs.value(.blob([2] + Array(Self.name.utf8) + [0])) == .blob([7, 8, 9]))
      #expect(try blobs.fileNames() == [Self.name])
    }
  }

  @Test func whatIsNoValueAndNoNameIsRefused() throws {
    try withFiles { folder, blobs in
      let cases: [(Cell, ExternalBlobFailure)] = [
        (named(Self.name), .missing), (.blob([3, 1]), .unknownPrefix), (.blob([]), .unknownPrefix),
        (.text(Self.name), .unknownPrefix), (.integer(1), .unknownPrefix),
        (named("../../../etc/passwd"), .unsafe), (named("/etc/passwd"), .unsafe),
        (named(""), .unsafe), (named(Self.name + "/x"), .unsafe),
        (.blob([2, 0xFF, 0xFE]), .unsafe),
        (.oversized(bytes: 1 << 40), .tooLarge),
      ]
      for (cell, failure) in cases {
        #expect(throws: failure) { try blobs.value(cell) }
      }
    }
  }

  @Test func onlyRegularFilesAreRead() throws {
    try withFiles { folder, blobs in
      let directory = files(in: folder)
      try FileManager.default.createSymbolicLink(
        atPath: directory + "/" + Self.name, withDestinationPath: "/etc/passwd")
      #expect(throws: ExternalBlobFailure.unsafe) { try blobs.value(named(Self.name)) }
      let other = "3F2504E0-4F89-41D3-9A0C-0305E82C3302"
      try FileManager.default.createDirectory(
        atPath: directory + "/" + other, withIntermediateDirectories: false)
      #expect(throws: ExternalBlobFailure.unsafe) { try blobs.value(named(other)) }
      // One that waits for a writer.
      let pipe = "3F2504E0-4F89-41D3-9A0C-0305E82C3303"
      #expect(mkfifo(directory + "/" + pipe, 0o600) == 0)
      #expect(throws: ExternalBlobFailure.unsafe) { try blobs.value(named(pipe)) }
    }
  }

  @Test func aLinkInThePlaceOfTheFolderIsNotFollowed() throws {
    try withFiles { folder, blobs in
      try write([1], to: Self.name, in: folder)
      let directory = files(in: folder)
      try FileManager.default.moveItem(atPath: directory, toPath: folder.path("elsewhere"))
      try FileManager.default.createSymbolicLink(
        atPath: directory, withDestinationPath: folder.path("elsewhere"))
      #expect(throws: ExternalBlobFailure.unsafe) { try blobs.value(named(Self.name)) }
      #expect(throws: ExternalBlobFailure.unsafe) { try blobs.fileNames() }
    }
  }

  @Test func aFileThatNoRecordCouldHoldIsNotRead() throws {
    try withFiles { folder, blobs in
      try write([], to: Self.name, in: folder)
      #expect(truncate(files(in: folder) + "/" + Self.name, Limits.cellBytesMax + 1) == 0)
      #expect(throws: ExternalBlobFailure.tooLarge) { try blobs.value(named(Self.name)) }
    }
  }

  @Test func withoutAFolderThereAreNoFiles() throws {
    try withTemporaryFolder { folder in
      let names = try ExternalBlobs(source: folder.path("a.sqlite")).fileNames()
      #expect(names.isEmpty)
    }
  }

  // MARK: Files

  private func withFiles(_ body: (TemporaryFolder, ExternalBlobs) throws -> Void) throws {
    try withTemporaryFolder { folder in
      try FileManager.default.createDirectory(
        atPath: files(in: folder), withIntermediateDirectories: true)
      try body(folder, ExternalBlobs(source: folder.path("My.store.sqlite")))
    }
  }

  private func files(in folder: TemporaryFolder) -> String {
    folder.path(".My.store_SUPPORT") + "/_EXTERNAL_DATA"
  }

  private func write(_ bytes: [UInt8], to name: String, in folder: TemporaryFolder) throws {
    try Data(bytes).write(to: URL(filePath: files(in: folder) + "/" + name))
  }

  private func named(_ name: String) -> Cell { .blob([2] + Array(name.utf8)) }
}
