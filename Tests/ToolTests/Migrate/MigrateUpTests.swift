import Foundation
import TestSupport
import Testing

@Suite struct MigrateUpTests {
  @Test func upReportsItsProgressAndItsResult() throws {
    try withCities(pending: [Cities.second]) { store in
      let up = try migrate("up", store: store)
      #expect(up.status == 0 && up.output.isEmpty)
      let lines = up.errors.split(separator: "\n").map(String.init)
      try #require(lines.count == 4, "\(up.errors)")
      #expect(lines[0].hasPrefix("mooring: local 0002_more, step 1 of 3: set size of City"))
      #expect(lines[1].hasPrefix("mooring: local 0002_more, step 2 of 3: create index City.bySize"))
      #expect(lines[2] == "mooring: applied local 0002_more")
      #expect(lines[3].contains("done in ") && lines[3].contains("other writers had to wait"))
      #expect(try migrate("up", store: store).errors == "mooring: nothing is pending\n")
      #expect(try migrate("up", "--quiet", store: store).errors.isEmpty)
    }
  }

  @Test func jsonIsOneObjectAfterLinesOfProgress() throws {
    try withCities(pending: [Cities.second]) { store in
      let up = try migrate("up", "--format", "json", store: store)
      let result = try json(up)
      let migrations = try #require(result["migrations"] as? [[String: Any]])
      #expect(migrations.map { $0["migration"] as? String } == ["0002_more"])
      #expect(migrations.map { $0["version"] as? Int } == [2])
      #expect(result["isNew"] as? Bool == false && result["store"] as? String == store)
      let events = try up.errors.split(separator: "\n").map { line in
        try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
      }
      let stages = events.compactMap { $0["stage"] as? String }
      #expect(Set(stages).isSuperset(of: ["records", "sorting", "writing", "settling"]))
      #expect(events.allSatisfy { $0["event"] as? String == "progress" })
      #expect(try migrate("up", "--format", "json", "--quiet", store: store).errors.isEmpty)
    }
  }

  @Test func destructiveStepsNeedTheFlagAndLeaveABackup() throws {
    try withCities(pending: [Cities.second, Cities.drop]) { store in
      let before = try Data(contentsOf: URL(fileURLWithPath: store + "/data.mdb"))
      expectFailure(try migrate("up", store: store), 78, "--allow-destructive", "City.name")
      #expect(try Data(contentsOf: URL(fileURLWithPath: store + "/data.mdb")) == before)
    }
    try withCities(pending: [Cities.drop]) { store in
      let up = try migrate("up", "--allow-destructive", store: store)
      #expect(up.status == 0, "\(up.errors)")
      let marker = "mooring: a copy of the store from before is in "
      let line = try #require(up.errors.split(separator: "\n").first { $0.hasPrefix(marker) })
      let copy = String(line.dropFirst(marker.count))
      #expect(
        try mooring("fetch", "City", "--where", "size > 0", "--count", store: copy).status == 0)
      #expect(up.errors.contains("mooring migrate contract"))
      #expect(try migrate("status", store: store).output.contains(copy))
      let dry = try migrate("contract", "--dry-run", "--format", "json", store: store)
      #expect(try json(dry)["backups"] as? [String] == [copy])
      let contract = try migrate("contract", store: store)
      #expect(contract.status == 0 && contract.errors.contains("removed: \(copy)"))
      #expect(!FileManager.default.fileExists(atPath: copy))
      #expect(
        try migrate("contract", store: store).errors == "mooring: there is nothing to free\n")
    }
    try withCities(pending: [Cities.drop]) { store in
      let up = try migrate("up", "--allow-destructive", "--no-backup", store: store)
      #expect(up.status == 0 && !up.errors.contains("a copy of the store"))
    }
  }

  @Test func linesStopAtTheirTargets() throws {
    try withCities(pending: [Cities.second, Cities.drop]) { store in
      let up = try migrate("up", "--to", "local@2", store: store)
      #expect(up.status == 0 && up.errors.contains("applied local 0002_more"))
      #expect(try migrate("plan", "--to", "local@2", store: store).output == "nothing is pending\n")
      expectFailure(
        try migrate("up", "--to", "local@1", store: store), 64, "mooring migrate down local --to 1")
      expectFailure(try migrate("up", "--to", "local@4", store: store), 64, "ends at 3")
      expectFailure(try migrate("up", "--to", "locl@1", store: store), 64, "did you mean \"local\"")
      expectFailure(
        try migrate("up", "--to", "local@2", "--to", "local@3", store: store), 64, "twice")
    }
    try withTemporaryFolder { folder in
      let store = folder.path("store")
      let up = try mooring("migrate", "up", "--to", "homefeed@1", store: store)
      #expect(up.errors.contains("created the store"))
      #expect(up.errors.contains("homefeed 0001_home_feed"))
      #expect(!up.errors.contains("0002_learning_path_of_episode"))
      #expect(try mooring("migrate", "status", "--check", store: store).status == 78)
    }
  }

  @Test(arguments: [false, true])
  func anAttributeOfTheOperatorStaysAsItIs(_ isUpgrade: Bool) throws {
    try withTemporaryFolder { folder in
      let store = folder.path("store")
      let own = """
        line: my.app
        summary: Images
        steps:
          - addAttribute: { to: Episode, name: image, type: string, optional: true }
        """
      try Cities.write(own, "0001_my_image", store)
      if isUpgrade {
        let before = try migrate("up", "--to", "homefeed@2", "--to", "my.app@1", store: store)
        #expect(before.status == 0, "\(before.errors)")
      }
      let up = try migrate("up", store: store)
      #expect(up.status == 0, "\(up.errors)")
      #expect(up.errors.contains("Episode.image exists as string, not url; it is left as it is"))
      #expect(!up.errors.contains("Episode.authors"))
      #expect(try migrate("verify", store: store).status == 0)
      #expect(try migrate("lint", store: store).status == 0)
      let files = folder.path("migrations")
      let diff = try mooring(
        "schema", "diff", files, "--check", store: store, environment: environment(store))
      #expect(diff.status == 0, "\(diff.output)\(diff.errors)")
    }
  }

  @Test func downRollsBackTheLastMigration() throws {
    try withCities(pending: [Cities.second]) { store in
      expectFailure(try migrate("down", "nope", store: store), 64, "no line \"nope\"")
      expectFailure(
        try migrate("down", "local", store: store), 78, "a migration has no `down` steps")
      #expect(try migrate("up", store: store).status == 0)
      let schema = try migrate("down", "local", store: store)
      expectFailure(schema, 78, "--allow-destructive")
      let down = try migrate("down", "local", "--allow-destructive", store: store)
      #expect(down.status == 0 && down.errors.contains("reverted local 0002_more"))
      #expect(try migrate("status", "--check", store: store).status == 78)
      let none = try migrate("down", "local", "--to", "1", store: store)
      #expect(none.errors == "mooring: nothing to revert\n")
      expectFailure(try migrate("down", "local", "--to", "-1", store: store), 64)
    }
  }

  @Test func appliedStepsAreReportedWithTheReasonOfTheStop() throws {
    let refused = """
      line: local
      summary: Names are unique
      steps:
        - updateRows: { on: City, set: { name: same } }
        - createIndex: { on: City, name: byName, keys: [name], unique: true }
      """
    try withCities(pending: [Cities.second, refused]) { store in
      let up = try migrate("up", store: store)
      #expect(up.status == 65, "\(up.errors)")
      #expect(up.messages.contains("mooring: applied local 0002_more"))
      #expect(up.messages.last?.contains("index: byName") == true, "\(up.errors)")
      let status = try migrate("status", store: store).output
      #expect(status.contains("in progress: local 0003_more, step 2 of 2: create unique index"))
      #expect(status.contains("the last attempt ended: "))
      #expect(status.contains("correct that; `mooring migrate up` resumes it"))
      let abandon = try migrate("abandon", store: store)
      #expect(abandon.status == 0 && abandon.errors.contains("abandoned local 0003_more in step 2"))
      // The step may be corrected, and those before it stay done.
      try Cities.write(refused.replacing(", unique: true", with: ""), "0003_more", store)
      #expect(try migrate("up", store: store).status == 0)
      #expect(
        try migrate("abandon", store: store).errors == "mooring: no migration is in progress\n")
    }
  }

  @Test func aDraftWithoutStepsIsNotApplied() throws {
    try withCities { store in
      #expect(try migrate("new", "local", "later", store: store).status == 0)
      for verb in ["up", "plan"] {
        expectFailure(try migrate(verb, store: store), 78, "local 0002_later has no steps yet")
      }
      let lint = try migrate("lint", store: store)
      #expect(lint.status == 78 && lint.output.contains("(noSteps)"), "\(lint.output)")
    }
  }

  @Test func anExistingSchemaCanBeRecordedAsMigrated() throws {
    let again =
      "line: other\nsummary: Cities, too\n"
      + Cities.first.split(separator: "\n")[2...]
      .joined(separator: "\n")
    try withCities { store in
      try Cities.write(again, "0001_other", store)
      expectFailure(try migrate("baseline", "othr@1", store: store), 64, "did you mean \"other\"")
      expectFailure(try migrate("baseline", "other", store: store), 64, "<line@n>")
      expectFailure(try migrate("baseline", "other@2", store: store), 78, "no such migration")
      let noted = try migrate("baseline", "other@1", store: store)
      #expect(noted.errors == "mooring: noted as applied: other 0001_other\n")
      #expect(try migrate("status", store: store).output.contains("noted as applied"))
      #expect(try migrate("status", "--check", store: store).status == 0)
    }
  }
}
