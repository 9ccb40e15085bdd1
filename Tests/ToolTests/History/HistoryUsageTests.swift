import EntityModel
import EntityStore
import Foundation
import LMDB
import TestSupport
import Testing

/// How `mooring-dump history` refuses, to the letter.
@Suite struct HistoryUsageTests {
  private func expectRefusal(
    _ arguments: [String], _ status: Int32, _ message: String, store: String,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let run = try run("mooring-dump", ["history"] + arguments, store: store)
    #expect(run.status == status, sourceLocation: sourceLocation)
    #expect(run.messages == ["mooring-dump: " + message], sourceLocation: sourceLocation)
    #expect(run.output.isEmpty, sourceLocation: sourceLocation)
  }

  @Test(arguments: [
    (
      ["--after", "x", "--consumer", "y"], "--after and --consumer both name the start; use one"
    ),
    (["--token", "--consumers"], "--token and --consumers print different things; leave one out"),
    (
      ["--token", "--after", "x"],
      "--token prints one token; use it without options that choose changes"
    ),
    (
      ["--token", "--entity", "Dog"],
      "--token prints one token; use it without options that choose changes"
    ),
    (["--token", "--format", "json"], "--token prints a bare token; leave out --format"),
    (
      ["--consumers", "--consumer", "x"],
      "--consumers lists all; use it without options that choose changes"
    ),
    (
      ["--consumers", "--except-author", "x"],
      "--consumers lists all; use it without options that choose changes"
    ),
    (
      ["--consumers", "--limit", "1"],
      "--consumers lists all; use it without options that choose changes"
    ),
    (["--limit=-1"], "--limit cannot be negative"),
    (
      ["--format", "xml"],
      "The value 'xml' is invalid for '--format <format>'. Please provide one of 'table', "
        + "'json', 'jsonl', 'csv' or 'csv-exact'."
    ),
  ])
  func optionsThatContradictAreRefused(_ arguments: [String], _ message: String) throws {
    try expectRefusal(arguments, 64, message, store: "/nonexistent")
  }

  @Test func unknownNamesAreRefused() async throws {
    try await withHistorySample { temporary, tokens in
      let store = temporary.store
      try expectRefusal(
        ["--entity", "Dgo"], 64, "no such entity (entity: Dgo); did you mean \"Dog\"?",
        store: store.folder)
      try expectRefusal(
        ["--consumer", "mirror"], 69,
        "no consumer of the history is named \"mirror\"; "
          + "there are none", store: store.folder)
      try await store.advance(consumer: "mirror", to: tokens[0])
      try await store.advance(consumer: "search", to: tokens[0])
      try expectRefusal(
        ["--consumer", "miror"], 69,
        "no consumer of the history is named \"miror\"; did you mean \"mirror\"?",
        store: store.folder)
      try expectRefusal(
        ["--consumer", "x"], 69,
        "no consumer of the history is named \"x\"; there are mirror, search",
        store: store.folder)
      try expectRefusal(
        ["--after", "x"], 65,
        "a history token cannot be read (token: x); pass it unchanged, "
          + "or start again: get a new one, then fetch everything", store: store.folder)
      try expectRefusal(
        ["--after", ""], 65,
        "a history token cannot be read (token: ); pass it unchanged, "
          + "or start again: get a new one, then fetch everything", store: store.folder)
      let other = try openStore(
        at: temporary.folder.path("other"), migrations: [HistorySample.migrations])
      let id = (try other.id.uuidString, try store.id.uuidString)
      for token in [try other.historyToken()] {
        try expectRefusal(
          ["--after", token.description], 65,
          "a history token belongs to another store (token's "
            + "store: \(id.0), this store: \(id.1)); start again: get a new token, then fetch "
            + "everything", store: store.folder)
      }
    }
  }

  @Test func aTokenFromBeforeARestoreIsRefused() async throws {
    try await withHistorySample { temporary, tokens in
      let (store, data) = (temporary.folder.path("restored"), temporary.store.folder)
      try SampleStore.write(
        [UInt8](try Data(contentsOf: URL(fileURLWithPath: data + "/data.mdb"))), to: store)
      try await temporary.store.write { _ = try $0.insert("Dog", ["name": "Later"]) }
      let later = try temporary.store.historyToken()
      try expectRefusal(
        ["--after", later.description], 65,
        "a history token belongs to a state that the store no "
          + "longer has (sequence: 6); a backup was restored; start again: get a new token, then "
          + "fetch everything", store: store)
      #expect(try mooringDump("history", "--after", "\(tokens[4])", store: store).status == 0)
    }
  }

  // MARK: Other stores

  @Test func aDamagedWriteEndsTheHistoryAfterThoseBeforeIt() async throws {
    try await withHistorySample { temporary, _ in
      let store = temporary.folder.path("damaged")
      let data = temporary.store.folder + "/data.mdb"
      try SampleStore.write([UInt8](try Data(contentsOf: URL(fileURLWithPath: data))), to: store)
      do {
        let environment = try Environment.open(at: store)
        try environment.write { transaction in
          let tree = try #require(try environment.tree(named: "history", in: transaction))
          try transaction.put(
            tree, key: [0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0], value: [1, 2, 3])
        }
      }
      let message =
        "mooring-dump: the history cannot be read; run `mooring check`; records and indexes do "
        + "not depend on it\n"
      let lines = try mooringDump("history", "--format", "jsonl", store: store)
      #expect(lines.status == 65 && lines.lines.count == 2 && lines.errors == message)
      let json = try mooringDump("history", "--format", "json", store: store)
      #expect(json.status == 65 && json.errors == message)
      let rows = try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [Any]
      #expect(rows?.count == 2)
      let table = try mooringDump("history", store: store)
      #expect(table.status == 65 && table.lines.count == 3 && table.errors == message)
      let check = try mooring("check", store: store)
      #expect(check.status == 65)
      #expect(check.output.contains("it is unreadable"))
      // Where it ends can be told all the same.
      #expect(try mooringDump("history", "--token", store: store).status == 0)
    }
  }

  @Test func aStoreWithoutConsumersYetHasNone() async throws {
    try await withHistorySample { temporary, _ in
      let store = temporary.folder.path("older")
      let data = temporary.store.folder + "/data.mdb"
      try SampleStore.write([UInt8](try Data(contentsOf: URL(fileURLWithPath: data))), to: store)
      try forgetConsumers(of: store)
      let run = try mooringDump("history", "--consumers", store: store)
      #expect(run.status == 0 && run.errors.isEmpty)
      #expect(run.output == "name  behind  moved  expired  token\n")
      try expectRefusal(
        ["--consumer", "x"], 69, "no consumer of the history is named \"x\"; there are none",
        store: store)
      #expect(try mooringDump("history", store: store).lines.count == 9)
    }
  }

  /// Changes the schema to that of a version before consumers existed.
  private func forgetConsumers(of folder: String) throws {
    let environment = try Environment.open(at: folder)
    try environment.write { transaction in
      let tree = try #require(try environment.tree(named: "catalog", in: transaction))
      let key = Array("schema".utf8)
      let bytes = Data(try #require(try transaction.get(tree, key)))
      var schema = try JSONDecoder().decode(Schema.self, from: bytes)
      schema.entities.removeAll { $0.name == "_HistoryConsumer" }
      try transaction.put(tree, key: key, value: Array(try JSONEncoder().encode(schema)))
    }
  }

  @Test func aMissingStoreIsNotCreated() throws {
    try withTemporaryFolder { folder in
      let store = folder.path("none")
      for arguments in [[], ["--token"], ["--consumers"]] {
        let run = try run("mooring-dump", ["history"] + arguments, store: store)
        expectFailure(run, 69, store, tool: "mooring-dump")
        #expect(!FileManager.default.fileExists(atPath: store))
      }
    }
  }

  @Test func readingTheHistoryChangesNothing() async throws {
    try await withHistorySample { temporary, tokens in
      let data = URL(fileURLWithPath: temporary.store.folder + "/data.mdb")
      try await temporary.store.advance(consumer: "mirror", to: tokens[0])
      let before = try Data(contentsOf: data)
      for arguments in [[], ["--token"], ["--consumers"], ["--consumer", "mirror"]] {
        let run = try run("mooring-dump", ["history"] + arguments, store: temporary.store.folder)
        #expect(run.status == 0)
      }
      #expect(try Data(contentsOf: data) == before)
    }
  }
}
