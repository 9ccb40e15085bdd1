import Foundation
import TestSupport
import Testing

/// Which libraries a command loads, by the log of the dynamic linker.
@Suite struct StartTests {
  private static let log = ["LD_DEBUG": "libs"]

  @Test(arguments: [["home"], ["fetch", "Episode"], ["jobs", "list"], ["--version"]])
  func aCommandWithoutTheNetworkStartsWithoutItsLibraries(_ arguments: [String]) throws {
    try withSampleStore { store in
      let run = try run("mooring", arguments, store: store, environment: Self.log)
      #expect(run.status == 0)
      #expect(run.errors.contains("liblmdb"))
      #expect(!run.errors.contains("libcurl"))
    }
  }

  @Test func aDumpStartsWithoutTheLibrariesOfTheNetwork() throws {
    try withSampleStore { store in
      let run = try mooringDump("records", "Episode", store: store, environment: Self.log)
      #expect(run.status == 0)
      #expect(run.errors.contains("liblmdb"))
      #expect(!run.errors.contains("libcurl"))
    }
  }

  @Test func aCommandThatSendsRequestsLoadsLibcurl() throws {
    try withSampleStore { store in
      let run = try mooring(
        "feed", "inspect", "http://127.0.0.1:1/", store: store, environment: Self.log)
      #expect(run.status == 75)
      #expect(run.errors.contains("libcurl.so.4"))
    }
  }

  @Test func aMissingLibraryIsNamedWithItsPackage() throws {
    let folder = try TemporaryFolder(named: "libraries")
    // The dynamic linker takes the first file of the name, and refuses this one.
    try Data().write(to: folder.url.appendingPathComponent("libcurl.so.4"))
    try withSampleStore { store in
      let run = try mooring(
        "feed", "inspect", "http://127.0.0.1:1/", store: store,
        environment: ["LD_LIBRARY_PATH": folder.path])
      #expect(run.status == 69)
      #expect(run.messages.count == 1, "\(run.errors)")
      #expect(run.errors.contains("libcurl cannot be loaded"))
      #expect(run.errors.contains("install the Debian package libcurl4"))
    }
  }
}
