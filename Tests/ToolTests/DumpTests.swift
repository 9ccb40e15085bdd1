import Foundation
import TestSupport
import Testing

/// `mooring-dump` on a store of known content.
@Suite struct DumpTests {
  private func dump(_ store: String, _ arguments: String...) throws -> String {
    let run = try run("mooring-dump", arguments, store: store)
    #expect(run.status == 0, "\(run.errors)")
    #expect(run.errors.isEmpty)
    return run.output
  }

  @Test func recordsComeAsLinesOfJSONByDefault() throws {
    try withSampleStore { store in
      let select = ["--select", "id,title, watchedAt"]
      let run = try run(
        "mooring-dump", ["records", "Episode", "--offset", "1", "--limit", "3"] + select,
        store: store)
      #expect(
        run.output == #"""
          {"_id":2,"id":"ep:2","title":"two\nlines\r\nthree","watchedAt":"2026-02-01T00:00:00Z"}
          {"_id":3,"id":"ep:3","title":"日本語の題名","watchedAt":null}
          {"_id":4,"id":"ep:4","title":"\u001b[31mred\u0000\u0007\u009b2J","watchedAt":null}

          """#)
      let system = try dump(store, "records", "_UserState", "--format", "csv", "--limit", "1")
      #expect(system.hasPrefix("_id,") && system.split(separator: "\r\n").count == 2)
    }
  }

  @Test func aTableHasOneLinePerRecordAndNoControlCharacters() throws {
    try withSampleStore { store in
      #expect(
        try dump(
          store, "records", "Episode", "--format", "table", "--select", "id,title,progress") == """
            _id  id    title                 progress
              1  ep:1  Walk, the long "way"       0.0
              2  ep:2  two lines three            0.5
              3  ep:3  日本語の題名               0.0
              4  ep:4  �[31mred���2J              0.0
              5  ep:5  plain                      0.0

            """)
      for arguments in [["home"], ["feed", "show", "1"], ["check"]] {
        let output = try run("mooring", arguments, store: store).output
        let controls = output.unicodeScalars.filter { $0.properties.generalCategory == .control }
        #expect(controls.allSatisfy { $0 == "\n" })
      }
    }
  }

  @Test func jsonIsOneDocumentWithTheTitlesAsTheyCame() throws {
    try withSampleStore { store in
      let text = try dump(store, "records", "Episode", "--format", "json")
      let rows = try #require(
        try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [[String: Any]])
      #expect(rows.map { $0["title"] as? String } == SampleFeed.titles)
      #expect(rows[1]["progress"] as? Double == 0.5 && rows[0]["watchedAt"] is NSNull)
      let empty = try dump(store, "records", "_Tombstone", "--format", "json")
      #expect(empty == "[]\n")
      for arguments in [["stats"], ["tables"], ["schema", "--as"], ["index", "Episode", "byID"]] {
        let format = arguments.last == "--as" ? ["json"] : ["--format", "json"]
        let run = try run("mooring-dump", arguments + format, store: store)
        _ = try JSONSerialization.jsonObject(with: Data(run.output.utf8))
      }
      let verbs = ["home", "check", "feed list", "migrate status", "migrate plan"]
      for arguments in verbs.map({ $0.split(separator: " ").map(String.init) }) {
        let run = try run("mooring", arguments + ["--format", "json"], store: store)
        _ = try JSONSerialization.jsonObject(with: Data(run.output.utf8))
      }
    }
  }

  @Test func commaSeparatedValuesBringTitlesBack() throws {
    try withSampleStore { store in
      let text = try dump(
        store, "records", "Episode", "--format", "csv-exact", "--select", "id,title")
      let rows = CommaSeparated.rows(of: text)
      #expect(rows.first == ["_id", "id", "title"])
      #expect(rows.dropFirst().map { $0[2] } == SampleFeed.titles)
    }
  }

  @Test func indexEntriesAreReadBackFromTheirKeys() throws {
    try withSampleStore { store in
      #expect(
        try dump(store, "index", "Episode", "byType") == """
          type  updatedAt             _id
             1  2026-01-03T00:00:00Z    3
             2  2026-01-04T00:00:00Z    4
             2  2026-01-01T00:00:00Z    1
             3  2026-01-05T00:00:00Z    5
             3  2026-01-02T00:00:00Z    2

          """)
      let byID = try dump(store, "index", "Episode", "byID", "--format", "csv", "--limit", "2")
      #expect(byID == "id,feedID,_id\r\nep:1,1,1\r\nep:2,1,2\r\n")
      let raw = try dump(store, "index", "Episode", "byWatched", "--raw")
      #expect(
        raw == """
          key                                 _id
          fd3e3868987fffffff8000000000000002    2

          """)
    }
  }

  @Test func anIndexWithACollationShowsWhatItsTextsSortBy() throws {
    try withTemporaryFolder { folder in
      let store = folder.path("store")
      try SampleStore.copy(to: store)
      let migrations = folder.path("migrations")
      try FileManager.default.createDirectory(atPath: migrations, withIntermediateDirectories: true)
      let steps = """
        - createIndex: { on: Episode, name: byTitle, keys: [title localized(zh) desc] }
          - createIndex: { on: Episode, name: folded, keys: [title caseInsensitive, position] }
        """
      let file = "line: x\nsummary: d\nsteps:\n  \(steps)\n"
      try Data(file.utf8).write(to: URL(fileURLWithPath: migrations + "/0001_titles.yaml"))
      let up = try mooring("migrate", "up", "--migrations", migrations, store: store)
      #expect(up.status == 0, "\(up.errors)")
      let schema = try dump(store, "schema")
      #expect(schema.contains("title localized(zh) desc"))
      #expect(schema.contains("title caseInsensitive, position"))
      let yaml = try dump(store, "schema", "--as", "yaml")
      #expect(yaml.contains("name: byTitle, keys: [title localized(zh) desc]"))
      let folded = try dump(
        store, "index", "Episode", "folded", "--format", "csv-exact", "--limit", "2")
      #expect(
        folded == "title caseInsensitive,position,_id\r\n\u{1B}[31mred\u{0}\u{7}\u{9B}2j,4,4\r\n"
          + "plain,5,5\r\n")
      let byTitle = try dump(store, "index", "Episode", "byTitle", "--format", "csv")
      let rows = CommaSeparated.rows(of: byTitle)
      #expect(rows.first == ["title localized(zh)", "_id"])
      #expect(rows.dropFirst().map { $0[1] } == ["1", "2", "5", "3", "4"])
      #expect(rows.dropFirst().allSatisfy { Data(base64Encoded: $0[0])?.isEmpty == false })
      #expect(try mooring("check", store: store).status == 0)
    }
  }

  @Test func tablesDescribeEachTree() throws {
    try withTemporaryFolder { folder in
      let store = folder.path("store")
      try SampleStore.copy(to: store)
      let tables = try dump(store, "tables", "--format", "csv")
      let rows = CommaSeparated.rows(of: tables)
      #expect(rows.first == ["tree", "what", "entries", "depth", "pages", "bytes"])
      let records = try #require(rows.first { $0[1] == "records of Episode" })
      #expect(records[0].hasPrefix("r.") && records[2...] == ["5", "1", "1", "4096"])
      let index = try #require(rows.first { $0[1] == "index Episode.byType" })
      #expect(index[0].hasPrefix("i.") && index[2...] == ["5", "1", "1", "4096"])
      #expect(!rows.contains { $0[1].hasPrefix("orphan") })
      // A dropped index leaves its tree.
      let migrations = folder.path("migrations")
      try FileManager.default.createDirectory(atPath: migrations, withIntermediateDirectories: true)
      let drop = "line: x\nsummary: d\nsteps:\n  - dropIndex: { on: Episode, name: byType }\n"
      try Data(drop.utf8).write(to: URL(fileURLWithPath: migrations + "/0001_drop.yaml"))
      #expect(try mooring("migrate", "up", "--migrations", migrations, store: store).status == 0)
      let after = CommaSeparated.rows(of: try dump(store, "tables", "--format", "csv"))
      #expect(after.first { $0[0] == index[0] }?[1].hasPrefix("orphan") == true)
    }
  }

  @Test func statsAreConsistent() throws {
    try withSampleStore { store in
      let text = try dump(store, "stats", "--format", "json")
      let stats = try #require(
        try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
      let used = try #require(stats["pagesUsed"] as? Int)
      let free = try #require(stats["pagesFree"] as? Int)
      #expect(used > 30 && free > 0)
      #expect(stats["fileBytes"] as? Int == (used + free) * 4_096)
      let entities = try #require(stats["entities"] as? [[String: Any]])
      let episode = try #require(entities.first { $0["name"] as? String == "Episode" })
      #expect(episode["records"] as? Int == 5 && episode["indexes"] as? Int == 7)
    }
  }

  @Test func statsSumTheSystemEntitiesAfterTheOthers() throws {
    try withSampleStore { store in
      func names(_ arguments: String...) throws -> [String] {
        let text = try run("mooring-dump", ["stats"] + arguments, store: store).output
        let table = text.components(separatedBy: "\n\n").last ?? ""
        return table.split(separator: "\n").dropFirst().map { line in
          line.split(separator: "  ", omittingEmptySubsequences: true).first.map(String.init) ?? ""
        }
      }
      let all = try names("--all")
      #expect(all.prefix(2) == ["Episode", "LearningPath"])
      let system = all.dropFirst(2)
      #expect(system.count > 5 && system.allSatisfy { $0.hasPrefix("_") })
      #expect(try names() == ["Episode", "LearningPath", "\(system.count) system entities"])
    }
  }

  @Test func readingChangesNothing() throws {
    try withSampleStore { store in
      let before = try Data(contentsOf: URL(fileURLWithPath: store + "/data.mdb"))
      for arguments in [["schema"], ["records", "Episode"], ["tables"], ["stats"]] {
        #expect(try run("mooring-dump", arguments, store: store).status == 0)
      }
      #expect(try Data(contentsOf: URL(fileURLWithPath: store + "/data.mdb")) == before)
      let names = try FileManager.default.contentsOfDirectory(atPath: store).sorted()
      #expect(names == ["data.mdb", "lock.mdb"])
    }
  }

  @Test func aClosedPipeEndsTheDumpQuietly() throws {
    try withSampleStore { store in
      let dump = childExecutable(named: "mooring-dump").path
      // More than a pipe holds, so that the dump meets the closed pipe.
      let dumps = String(repeating: "\(dump) records Episode && ", count: 3)
      let script = "set -o pipefail; (\(dumps) \(dump) schema --as yaml; echo $? >&2) | head -1"
      let process = SpawnedProcess()
      let (output, errors) = (Pipe(), Pipe())
      process.executableURL = URL(fileURLWithPath: "/bin/bash")
      process.arguments = ["-c", script]
      process.environment = ["MOORING_STORE": store, "PATH": "/usr/bin:/bin"]
      process.standardOutput = output
      process.standardError = errors
      try process.run()
      let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
      let said = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
      process.waitUntilExit()
      #expect(text.hasPrefix(#"{"_id":1,"#) && text.split(separator: "\n").count == 1)
      #expect(said == "0\n")
    }
  }

  @Test func withoutATerminalNothingIsColoredWhateverTheEnvironmentSays() throws {
    try withSampleStore { store in
      let plain = try mooring("home", store: store).output
      #expect(try mooring("home", store: store, environment: ["NO_COLOR": "1"]).output == plain)
      #expect(try mooring("home", store: store, environment: ["TERM": "xterm"]).output == plain)
      #expect(!plain.contains("\u{1B}"))
    }
  }
}

/// A reader of RFC 4180, written apart from the writer.
enum CommaSeparated {
  static func rows(of text: String) -> [[String]] {
    var rows: [[String]] = []
    var row: [String] = []
    var field = String.UnicodeScalarView()
    var isQuoted = false
    var scalars = Array(text.unicodeScalars)[...]
    while let scalar = scalars.popFirst() {
      if isQuoted {
        guard scalar == "\"" else { field.append(scalar); continue }
        if scalars.first == "\"" { field.append(scalars.removeFirst()) } else { isQuoted = false }
      } else if scalar == "\"" {
        isQuoted = true
      } else if scalar == "," || scalar == "\n" {
        row.append(String(field))
        field = String.UnicodeScalarView()
        if scalar == "\n" { rows.append(row); row = [] }
      } else if scalar != "\r" {
        field.append(scalar)
      }
    }
    return rows
  }
}
