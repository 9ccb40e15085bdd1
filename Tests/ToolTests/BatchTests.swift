import Foundation
import TestSupport
import Testing

@Suite struct BatchTests {
  @Test func updateCountsWhatMatchesAndDryRunChangesNothing() throws {
    try withVenues { store in
      let dry = try batch(
        "update", "Venue", "--where", "wins < $N", "--variable", "N=2", "--set", "zone=east",
        "--dry-run", store: store)
      #expect(dry.output == "entity  matching\nVenue          2\n")
      #expect(try names("zone != nil", store) == [])
      let all = try batch("update", "Venue", "--all", "--set", "zone=east", store: store)
      #expect(all.status == 0 && all.errors.isEmpty)
      #expect(all.output == "entity  updated\nVenue         3\n")
      let json = try batch(
        "update", "Venue", "--where", "wins < 2", "--set", "wins:=wins + 7", "--set",
        "openedAt=now", "--format", "json", store: store)
      #expect(json.output == "[\n{\"entity\":\"Venue\",\"updated\":2}\n]\n")
      #expect(try names("wins IN {7, 8} AND openedAt != nil", store) == ["a", "b"])
      let ids = try batch(
        "update", "Venue", "--where", "wins < 8", "--set", "owner=b", "--ids", store: store)
      #expect(ids.lines == ["Venue/1", "Venue/3"])
      #expect(try names("owner.name == \"b\"", store) == ["a", "c"])
    }
  }

  @Test func deleteNeedsASelection() throws {
    try withVenues { store in
      for verb in ["delete", "update"] {
        let run = try batch(verb, "Venue", store: store)
        expectFailure(run, 64, "--where PREDICATE, or --all")
      }
      expectFailure(
        try batch("delete", "Venue", "--all", "--where", "wins == 1", store: store), 64,
        "contradict")
      let run = try batch(
        "delete", "Venue", "--where", "wins >= 1", "--format", "csv", store: store)
      #expect(run.output == "entity,deleted\r\nVenue,2\r\n")
      #expect(try names("TRUEPREDICATE", store) == ["a"])
      let all = try batch("delete", "Venue", "--all", "--quiet", store: store)
      #expect(all.status == 0)
      #expect(try names("TRUEPREDICATE", store) == [])
    }
  }

  @Test(arguments: [
    (["update", "Venue", "--all"], 64, "--set attribute=value"),
    (["update", "Venue", "--all", "--set", "wins"], 64, "no assignment"),
    (["update", "Venue", "--all", "--set", "wins=1", "--set", "wins=2"], 64, "given twice"),
    (["update", "Venue", "--all", "--set", "wons=1"], 64, "did you mean \"wins\""),
    (["update", "Venue", "--all", "--set", "wins:=wons + 1"], 64, "did you mean \"wins\""),
    (["update", "Venue", "--all", "--set", "wins=wins + 1"], 64, "write wins:=wins + 1"),
    (["update", "Venue", "--all", "--set", "wins:=name"], 64, "does not fit"),
    (["update", "Venue", "--all", "--set", "owner=nobody"], 69, "no Venue \"nobody\""),
    (["update", "Venue", "--all", "--set", "wins=101"], 65, "more than the maximum 100"),
    (["update", "Venue", "--all", "--set", "name=same"], 65, "changed record: Venue/2"),
    (["update", "Venues", "--all", "--set", "wins=1"], 64, "did you mean \"Venue\""),
    (["update", "Venue", "--all", "--set", "wins=1", "--without", "rules"], 64, "deleteRules"),
    (["delete", "Venue", "--all", "--variable", "N=1"], 64, "nothing asks for $N"),
    (["delete", "_Feed", "--all"], 64, "belongs to the store itself"),
    (["insert", "Venue"], 64, "file"),
    (["insert", "Venue", "/nowhere/x"], 69, "there is no file"),
    (["insert", "Venue", "/"], 74, "cannot be read"),
    (["insert", "Venue", "-", "--on-conflict", "update"], 64, "needs --by"),
    (["insert", "Venue", "-", "--by", "name"], 64, "--on-conflict update"),
    (["insert", "Venue", "-", "--on-conflict", "update", "--by", "wins"], 64, "no unique index"),
  ])
  func wrongArgumentsAreRefusedInOneLine(
    arguments: [String], status: Int32, says: String
  ) throws {
    try withVenues { store in
      let run = try run(
        "mooring", ["batch"] + arguments, store: store, environment: environment(store))
      expectFailure(run, status, says)
      #expect(run.output.isEmpty)
      #expect(try names("wins < 3", store) == ["a", "b", "c"])
    }
  }

  @Test func aMistakeInAPredicateHasItsPlace() throws {
    try withVenues { store in
      let run = try batch(
        "delete", "Venue", "--where", "wins > 1 AND wons < 3", store: store)
      #expect(run.status == 64)
      #expect(run.errors.contains("--where: no such attribute"))
      #expect(run.errors.hasSuffix("wins > 1 AND wons < 3\n             ^\n"))
    }
  }

  @Test func rulesCanBeLeftOut() throws {
    try withVenues { store in
      let run = try batch(
        "update", "Venue", "--all", "--set", "wins=101", "--without", "validation,history",
        store: store)
      #expect(run.status == 0, "\(run.errors)")
      #expect(try names("wins == 101", store) == ["a", "b", "c"])
    }
  }

  @Test func feedAttributesAreNotChanged() throws {
    try withSampleStore { store in
      let run = try mooring(
        "batch", "update", "Episode", "--all", "--set", "title=mine", store: store)
      expectFailure(run, 77, "title belongs to the feed", "feedID == nil")
      let local = try mooring(
        "batch", "update", "Episode", "--all", "--set", "favoriteAt=now", store: store)
      #expect(local.output == "entity   updated\nEpisode        5\n")
      let insert = try mooring(
        "batch", "insert", "Episode", "/dev/null", "--format", "jsonl", store: store)
      #expect(insert.output.hasPrefix("{\"entity\":\"Episode\",\"inserted\":0,"))
    }
  }
}

/// A store of the venues a, b and c, with 0, 1 and 2 wins. The commands create it once, and each
/// test gets a copy.
private enum VenueStore {
  private static let migration = """
    line: venues
    summary: Venues
    steps:
      - createEntity:
          name: Venue
          attributes:
            - { name: name, type: string }
            - { name: wins, type: int64, default: 0, min: 0, max: 100 }
            - { name: zone, type: string, optional: true }
            - { name: score, type: double, optional: true }
            - { name: price, type: decimal, optional: true }
            - { name: isOpen, type: bool, optional: true }
            - { name: openedAt, type: date, optional: true }
            - { name: tags, type: strings, optional: true }
            - { name: level, type: enum, values: { low: 1, high: 2 }, optional: true }
      - createIndex: { on: Venue, name: byName, keys: [name], unique: true }
      - createRelationship: { on: Venue, name: owner, to: Venue, inverse: { name: owned } }
    """

  static let bytes = Result { () throws -> [UInt8] in
    try withTemporaryFolder { folder in
      try writeMigration(to: folder)
      let store = folder.path("store")
      let up = try mooring("migrate", "up", store: store, environment: environment(store))
      try #require(up.status == 0, "\(up.errors)")
      let file = folder.path("first.csv")
      try Data("name,wins\na,0\nb,1\nc,2\n".utf8).write(to: URL(fileURLWithPath: file))
      let insert = try batch("insert", "Venue", file, store: store)
      try #require(insert.status == 0, "\(insert.errors)")
      return [UInt8](try Data(contentsOf: URL(fileURLWithPath: store + "/data.mdb")))
    }
  }

  static func writeMigration(to folder: TemporaryFolder) throws {
    let path = folder.path("migrations")
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    try Data(migration.utf8).write(to: URL(fileURLWithPath: path + "/0001_venues.yaml"))
  }
}

/// Runs `body` with the folder of a store of three venues, which must be undamaged at the end.
func withVenues<R>(_ body: (String) throws -> R) throws -> R {
  try withTemporaryFolder { folder in
    try VenueStore.writeMigration(to: folder)
    let store = folder.path("store")
    try SampleStore.write(try VenueStore.bytes.get(), to: store)
    let result = try body(store)
    let check = try mooring("check", store: store, environment: environment(store))
    #expect(check.status == 0, "\(check.output)\(check.errors)")
    return result
  }
}

/// The migrations are beside the store.
func environment(_ store: String) -> [String: String] {
  let folder = URL(fileURLWithPath: store).deletingLastPathComponent()
  return ["MOORING_MIGRATIONS": folder.appendingPathComponent("migrations").path]
}

func batch(_ arguments: String..., store: String) throws -> ToolRun {
  try run("mooring", ["batch"] + arguments, store: store, environment: environment(store))
}

/// The names of the venues that match.
func names(_ predicate: String, _ store: String) throws -> [String] {
  let run = try mooring(
    "fetch", "Venue", "--where", predicate, "--select", "name", "--format", "csv", store: store)
  #expect(run.status == 0, "\(run.errors)")
  return run.output.split(separator: "\r\n").dropFirst().map(String.init)
}
