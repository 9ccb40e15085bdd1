import Foundation
import TestSupport
import Testing

@testable import WorkerService

@Suite struct SettingsFileTests {
  @Test func theFileIsTheNamedOneOrTheFirstThatExists() throws {
    try withTemporaryFolder { folder in
      let system = folder.path("etc")
      let (first, second) = (folder.path("first"), folder.path("second"))
      for path in [system, first, second] {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
      }
      func path(_ flag: String?, _ environment: [String: String]) -> String? {
        SettingsFile.path(flag: flag, environment: environment, systemFolder: system)
      }
      func make(_ path: String) { _ = FileManager.default.createFile(atPath: path, contents: nil) }
      let folders = ["CONFIGURATION_DIRECTORY": "\(first):\(second)"]

      #expect(path(nil, folders) == nil)
      make("\(system)/worker.yaml")
      #expect(path(nil, folders) == "\(system)/worker.yaml")
      make("\(second)/worker.yaml")
      #expect(path(nil, folders) == "\(second)/worker.yaml")
      make("\(first)/worker.yaml")
      #expect(path(nil, folders) == "\(first)/worker.yaml")
      // What is named need not be there to be meant.
      let named = folders.merging(["MOORING_CONFIG": "/c.yaml"]) { $1 }
      #expect(path(nil, named) == "/c.yaml")
      #expect(path("/f.yaml", named) == "/f.yaml")
    }
  }

  @Test func aNamedFileMustBeThere() throws {
    try withTemporaryFolder { folder in
      for path in [folder.path("none"), folder.path] {
        let error = #expect(throws: SettingsError.self) {
          try WorkerSettings.load(environment: ["MOORING_CONFIG": path])
        }
        #expect(error?.code == .file)
        #expect(error?.description.contains(path) == true)
      }
    }
  }

  @Test func anEmptyFileIsRefusedAndAnEmptyMappingIsNot() throws {
    try withSettingsFile("{}") { file in
      let effective = try WorkerSettings.load(environment: [:], file: file)
      #expect(effective.settings == WorkerSettings())
      #expect(effective.file == file)
    }
  }
}
