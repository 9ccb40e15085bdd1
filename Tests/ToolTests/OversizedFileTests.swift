import Foundation
import TestSupport
import Testing

/// Files that a user names are read up to a limit, also if they have no end.
@Suite struct OversizedFileTests {
  @Test func aMappingWithoutEndIsRefused() throws {
    try withSampleStore { store in
      let feed = "http://127.0.0.1:9/talks.json"
      expectFailure(
        try mooring("feed", "add", feed, "--mapping", "/dev/zero", store: store), 65,
        "the mapping \"/dev/zero\" is longer than 256 KiB")
      expectFailure(
        try mooring("import", "plan", "/dev/null", "--mapping", "/dev/zero", store: store), 65,
        "the mapping \"/dev/zero\" is longer than 4 MiB")
      #expect(try mooring("feed", "show", feed, store: store).status == 69)
    }
  }

  @Test func aMigrationWithoutEndIsRefused() throws {
    try withSampleStore { store in
      try withTemporaryFolder { folder in
        try FileManager.default.createSymbolicLink(
          atPath: folder.path("0001_endless.yaml"), withDestinationPath: "/dev/zero")
        let up = try mooring("migrate", "up", "--migrations", folder.path, store: store)
        #expect(up.status == 78)
        #expect(up.errors.contains("longer than the limit of 4194304 bytes"), "\(up.errors)")
        let detached = try mooring(
          "migrate", "up", "--detach", "--migrations", folder.path, store: store)
        expectFailure(detached, 65, "is longer than 1 MiB")
      }
    }
  }

  @Test func settingsWithoutEndAreRefused() throws {
    try withSampleStore { store in
      let config = try mooring("config", "--config", "/dev/zero", store: store)
      #expect(config.status == 78)
      #expect(config.errors.contains("longer than the limit of 65536 bytes"), "\(config.errors)")
    }
  }
}
