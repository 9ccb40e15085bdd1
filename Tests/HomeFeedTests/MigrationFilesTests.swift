import Foundation
import Testing

@testable import HomeFeed

@Suite struct MigrationFilesTests {
  /// /Migrations is what people read and review; the list is what the program carries.
  @Test func theFolderAndTheProgramHaveTheSameFiles() throws {
    let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
      .appendingPathComponent("Migrations")
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
      .filter { $0.hasSuffix(".yaml") }.sorted()
    #expect(names == HomeFeedMigrations.files.map { $0.name + ".yaml" })
    for (name, bytes) in HomeFeedMigrations.files {
      let data = try Data(contentsOf: folder.appendingPathComponent(name + ".yaml"))
      #expect(Array(data) == bytes, "\(name)")
    }
  }
}
