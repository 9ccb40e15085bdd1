import Foundation
import TestSupport
import Testing

@Suite struct MigrateStatusTests {
  @Test func aScriptSeesProblemsAndNothingElse() throws {
    try withCities { store in
      let fine = try migrate("status", "--check", store: store)
      #expect(fine.status == 0 && fine.output.isEmpty && fine.errors.isEmpty)
      try Cities.write(Cities.second, "0002_more", store)
      let pending = try migrate("status", "--check", store: store)
      #expect(pending.status == 78 && pending.errors.isEmpty)
      #expect(pending.output == "local 0002_more is pending; run `mooring migrate plan`\n")
      let json = try migrate("status", "--check", "--format", "json", store: store)
      #expect(json.output.hasPrefix("[\"local 0002_more is pending"))
      try Cities.write(Cities.first.replacing("Cities", with: "Towns"), "0001_cities", store)
      let changed = try migrate("status", "--check", store: store)
      #expect(changed.status == 78)
      #expect(changed.lines.first?.contains("0001_cities was changed after it was applied") == true)
      expectFailure(try migrate("up", store: store), 78, "0001_cities", "put the file back")
      try Cities.write(Cities.first, "0001_cities", store)
    }
  }

  @Test func everyStateHasARow() throws {
    let needs = "line: far\nsummary: Needs what is not here\nrequires: [near@1]\nsteps: []\n"
    try withCities(pending: [Cities.second]) { store in
      try Cities.write(needs, "0001_far", store)
      let csv = try migrate("status", "--format", "csv", store: store)
      let rows = CommaSeparated.rows(of: csv.output)
      #expect(rows.first == ["line", "migration", "state", "applied", "by"])
      let states = Dictionary(
        rows.dropFirst().map { ("\($0[0]) \($0[1])", $0[2]) }, uniquingKeysWith: { $1 })
      #expect(states["local 0001_cities"] == "applied")
      #expect(states["local 0002_more"] == "pending")
      #expect(states["far 0001_far"] == "pending; requires near@1")
      let applied = try #require(rows.first { $0[1] == "0001_cities" })
      #expect(applied[3].hasSuffix("Z") && applied[4].hasPrefix("mooring "))
      let lines = try migrate("status", "--format", "jsonl", store: store).lines
      #expect(lines.count == rows.count - 1)
      let whole = try json(try migrate("status", "--format", "json", store: store))
      #expect((whole["migrations"] as? [Any])?.count == lines.count)
      #expect((whole["problems"] as? [String])?.count == 2)
    }
  }
}
