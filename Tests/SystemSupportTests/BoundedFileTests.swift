import Foundation
import SystemSupport
import TestSupport
import Testing

@Suite struct BoundedFileTests {
  @Test(arguments: [0, 1, 70_000])
  func aFileIsReadToItsEnd(_ count: Int) throws {
    try withTemporaryFolder { folder in
      let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 * 7) }
      try Data(bytes).write(to: URL(fileURLWithPath: folder.path("file")))
      #expect(try BoundedFile.read(folder.path("file"), bytesMax: count) == bytes)
      #expect(try BoundedFile.read(folder.path("file"), bytesMax: count + 1) == bytes)
    }
  }

  @Test func aFileWithoutEndGivesOneByteMoreThanAllowed() throws {
    #expect(try BoundedFile.read("/dev/zero", bytesMax: 100_000).count == 100_001)
    #expect(try BoundedFile.read("/dev/zero", bytesMax: 0).count == 1)
  }

  @Test(arguments: [("/nonexistent", ENOENT), ("/", EISDIR), ("/dev/null/file", ENOTDIR)])
  func aFileThatCannotBeReadHasTheErrorOfTheSystem(_ path: String, _ number: Int32) {
    let error = #expect(throws: SystemError.self) {
      try BoundedFile.read(path, bytesMax: 10)
    }
    #expect(error?.number == number)
  }
}
