import Foundation
import TestSupport
import Testing

@Suite struct MigrateLintTests {
  private static let misfit = """
    line: local
    summary: Wrong
    steps:
      - dropIndex: { on: City, name: nope }
    """

  @Test func filesAreCheckedWithoutAStore() throws {
    try withTemporaryFolder { folder in
      let store = folder.path("store")
      try Cities.write(Cities.first, "0001_cities", store)
      let fine = try migrate("lint", store: store)
      #expect(fine.status == 0, "\(fine.output)\(fine.errors)")
      try Cities.write(Self.misfit, "0002_wrong", store)
      let wrong = try migrate("lint", store: store)
      #expect(wrong.status == 78 && wrong.errors.isEmpty)
      #expect(wrong.lines.contains { $0.hasPrefix("error: local 0002_wrong, step 1: ") })
      let given = try mooring("migrate", "lint", folder.path("migrations"), store: store)
      #expect(given.output == wrong.output && given.status == 78)
      let json = try migrate("lint", "--format", "jsonl", store: store)
      #expect(json.lines.contains { $0.contains("\"rule\":\"misfit\"") })
      try Cities.write("line: local\nsteps:\n  - frobnicate\n", "0002_wrong", store)
      let unreadable = try migrate("lint", store: store)
      #expect(unreadable.status == 78 && unreadable.output.contains("(unreadableFile)"))
      let none = try migrate("lint", folder.path("none"), store: store)
      #expect(none.status == 78 && none.output.contains(folder.path("none")))
      expectFailure(try migrate("lint", "--format", "csv", store: store), 64, "jsonl")
      #expect(!FileManager.default.fileExists(atPath: store))
    }
  }

  @Test func filesAreComparedWithTheStore() throws {
    try withCities { store in
      #expect(try migrate("lint", store: store).status == 0)
      try Cities.write(Cities.first.replacing("Cities", with: "Towns"), "0001_cities", store)
      let changed = try migrate("lint", store: store)
      #expect(changed.status == 78 && changed.output.contains("(changedFile)"), "\(changed.output)")
      try Cities.write(Cities.first, "0001_cities", store)
    }
  }

  @Test func warningsAreReportedAndNoFailure() throws {
    try withCities(pending: [Cities.drop]) { store in
      let run = try migrate("lint", store: store)
      #expect(run.status == 0, "\(run.output)")
      #expect(run.output.contains("warning: local 0002_more, step 1: "))
    }
  }

  @Test func aStoreIsVerified() throws {
    try withCities(pending: [Cities.second]) { store in
      let fine = try migrate("verify", store: store)
      #expect(fine.status == 0 && fine.output.isEmpty, "\(fine.output)")
      #expect(fine.errors == "mooring: the store matches its migrations\n")
      let deep = try migrate("verify", "--deep", store: store)
      #expect(deep.status == 0 && deep.lines.first?.contains("index entries") == true)
      let whole = try json(try migrate("verify", "--deep", "--format", "json", store: store))
      #expect((whole["problems"] as? [Any])?.isEmpty == true && whole["check"] != nil)
      try Cities.write(Cities.first.replacing("Cities", with: "Towns"), "0001_cities", store)
      let changed = try migrate("verify", store: store)
      #expect(changed.status == 78 && changed.output.contains("0001_cities"), "\(changed.output)")
      try Cities.write(Cities.first, "0001_cities", store)
    }
    try withTemporaryFolder { folder in
      expectFailure(try mooring("migrate", "verify", store: folder.path("store")), 69, "no store")
    }
  }
}
