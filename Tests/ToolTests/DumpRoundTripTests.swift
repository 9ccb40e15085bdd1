import EntityModel
import EntityStore
import FeedSync
import Foundation
import HomeFeed
import Maintenance
import Migrations
import TestSupport
import Testing

/// `mooring-dump records` of all entities, and `mooring batch insert` of what it prints.
@Suite struct DumpRoundTripTests {
  /// Dumps a store into a file of lines.
  private func dump(_ store: String, to file: String) throws -> ToolRun {
    let run = try mooringDump("records", store: store)
    try Data(run.output.utf8).write(to: URL(filePath: file))
    return run
  }

  @Test(arguments: [UInt64(1), 2, 3])
  func anEmptyStoreGetsTheSameRecordsAndLinks(_ seed: UInt64) async throws {
    try await withMenagerie(seed: seed) { menagerie in
      let (copy, file) = (menagerie.folder.path("copy"), menagerie.folder.path("dump"))
      let dump = try dump(menagerie.store, to: file)
      #expect(dump.status == 0, "\(dump.errors)")
      try menagerie.create(copy)
      let insert = try mooring(
        "batch", "insert", file, store: copy, environment: menagerie.environment)
      #expect(insert.status == 0, "seed \(seed): \(insert.errors)")
      let inserted = try menagerie.open(copy)
      let original = try menagerie.content(try menagerie.open(menagerie.store))
      #expect(try menagerie.content(inserted) == original, "seed \(seed)")
      try requireClean(inserted)
      #expect(try mooringDump("records", store: copy).output == dump.output, "seed \(seed)")
      // A new record gets a number that no record of the dump has.
      let last = try menagerie.open(menagerie.store).read { transaction in
        try transaction.fetchIdentifiers(FetchRequest(entityName: "Order")).map(\.number).max() ?? 0
      }
      let new = try inserted.writeBlocking { transaction in
        try transaction.insert("Order", ["code": "new"])
      }
      #expect(new.number == last + 1)
    }
  }

  @Test func theHomeStoreIsPipedIntoAnotherStore() throws {
    try withSampleStore { store in
      let copy = store + "-copy"
      defer { try? FileManager.default.removeItem(atPath: copy) }
      #expect(try mooring("set", "Episode", "ep:1", "favoriteAt=now", store: store).status == 0)
      #expect(try mooring("jobs", "enqueue", "art", store: store).status == 0)
      #expect(try mooring("migrate", "up", store: copy).status == 0)
      let dump = childExecutable(named: "mooring-dump").path
      let insert = try run(
        "mooring", ["batch", "insert", "-"], in: "'\(dump)' records --store '\(store)' | \"$@\"",
        store: copy)
      #expect(insert.status == 0, "\(insert.errors)")
      let text = try mooringDump("records", store: store).output
      #expect(text.contains(#"{"_entity":"_Feed","_id":1,"#))
      #expect(try mooringDump("records", store: copy).output == text)
      for arguments in [["home"], ["fetch", "Episode"]] {
        let output = try run("mooring", arguments, store: copy).output
        #expect(try run("mooring", arguments, store: store).output == output)
      }
      let check = try mooring("check", store: copy)
      #expect(check.status == 0, "\(check.output)\(check.errors)")
      let again = try run(
        "mooring", ["batch", "insert", "-"], in: "'\(dump)' records --store '\(store)' | \"$@\"",
        store: copy)
      expectFailure(again, 65, "standard input:1: ", "there is a record with this number")
    }
  }

  @Test func anInterruptedInsertContinues() async throws {
    try await withMenagerie(seed: 4) { menagerie in
      let (copy, file) = (menagerie.folder.path("copy"), menagerie.folder.path("dump"))
      let lines = try dump(menagerie.store, to: file).lines
      try menagerie.create(copy)
      // A line that is refused interrupts the batch after those before it.
      var bad = lines
      bad[lines.count / 2] = #"{"_entity":"Order","_id":1000000,"code":7}"#
      try Data(bad.joined(separator: "\n").utf8).write(to: URL(filePath: file))
      let stopped = try mooring(
        "batch", "insert", file, store: copy, environment: menagerie.environment)
      #expect(stopped.status == 65 && stopped.errors.contains("\"7\" is no string for code"))
      try Data(lines.joined(separator: "\n").utf8).write(to: URL(filePath: file))
      let rest = try mooring(
        "batch", "insert", file, store: copy, environment: menagerie.environment)
      #expect(rest.status == 0 && rest.errors.contains("continued an interrupted run"))
      let inserted = try menagerie.open(copy)
      let original = try menagerie.content(try menagerie.open(menagerie.store))
      #expect(try menagerie.content(inserted) == original)
      try requireClean(inserted)
    }
  }

  @Test func theCheckpointsOfUnfinishedWorkAreCarriedOver() async throws {
    try await withMenagerie(seed: 5) { menagerie in
      let file = menagerie.folder.path("dump")
      let name = "mooring dump \(file) fail"
      do {
        let store = try menagerie.open(menagerie.store)
        try store.writeBlocking { transaction in
          try Checkpoint<Int>(name: "other work").save(7, rows: 3, in: transaction)
          // That of an insert of a dump from the same file, which this one must not use.
          try Checkpoint<Int>(name: "batch.insert:\(name)").save(8, in: transaction)
        }
      }
      _ = try dump(menagerie.store, to: file)
      let copy = menagerie.folder.path("copy")
      try menagerie.create(copy)
      let insert = try mooring(
        "batch", "insert", file, store: copy, environment: menagerie.environment)
      #expect(insert.status == 0, "\(insert.errors)")
      let store = try menagerie.open(copy)
      let kept = try ["other work", "batch.insert:\(name)"].map { name in
        try store.read { try Checkpoint<Int>(name: name).load(in: $0)?.position }
      }
      #expect(kept == [7, nil])
      try requireClean(store)
    }
  }

  @Test func badLinesAreRefusedWithTheirPlace() async throws {
    try await withTemporaryFolder { folder async throws in
      let menagerie = Menagerie(folder: folder)
      try menagerie.create(menagerie.store)
      let file = folder.path("dump")
      func insert(_ lines: String..., options: [String] = []) throws -> ToolRun {
        try Data(lines.joined(separator: "\n").utf8).write(to: URL(filePath: file))
        return try run(
          "mooring", ["batch", "insert", file, "--restart"] + options, store: menagerie.store,
          environment: menagerie.environment)
      }
      for (line, part) in [
        (#"{"_id":1,"code":"x"}"#, "a record of a dump names its _entity and _id"),
        (#"{"_entity":"Order","code":"x"}"#, "a record of a dump names its _entity and _id"),
        (#"{"_entity":"Nope","_id":1}"#, "the store has no entity \"Nope\""),
        (#"{"_entity":"Order","_id":1,"nope":1,"code":"x"}"#, "nope"),
        (#"{"_entity":"Order","_id":0,"code":"x"}"#, "out of range"),
        (#"{"_entity":"Order","_id":-5,"code":"x"}"#, "out of range"),
        (#"{"_entity":"Order","_id":9223372036854775807,"code":"x"}"#, "out of range"),
        (#"{"_entity":"Order","_id":1}"#, "code"),
        (#"{"_entity":"Order","_id":1,"code":"x","select":"nan"}"#, "no double for select"),
        (#"{"_entity":"Order","_id":1,"code":"x","dueAt":"now"}"#, "no date for dueAt"),
        (#"{"_entity":"Order","_id":1,"code":"x","group":1.5}"#, "no int64 for group"),
        ("[1]", "an item is a JSON object"), ("_entity,_id\nOrder,1", "a record of a dump names"),
        (#"{"_entity":"Order""#, "JSON"),
      ] {
        expectFailure(try insert(line), 65, file, part)
      }
      let dangling = try insert(#"{"_entity":"Order","_id":7,"code":"x","table":9}"#)
      #expect(dangling.status == 65, "\(dangling.errors)")
      #expect(dangling.errors.contains("Order/7: table leads to no record"))
      #expect(dangling.errors.contains("2 links of the store lead to no record"))
      expectFailure(
        try insert(#"{"_entity":"Order","_id":7,"code":"y"}"#), 65,
        "there is a record with this number")
      expectFailure(
        try insert(#"{"_entity":"Order","_id":8,"code":"x"}"#), 65,
        "another record has the same unique values")
      // The record that is missing makes the store whole.
      let whole = try insert(
        #"{"_entity":"Table","_id":9,"code":"t"}"#, #"{"_entity":"Order","_id":8,"code":"x"}"#,
        options: ["--keep-going"])
      #expect(whole.status == 65 && whole.errors.contains("Order/7: table has no place"))
      let store = try menagerie.open(menagerie.store)
      #expect(try store.read { try $0.count(of: "Table") } == 1)
    }
  }

  @Test func optionsThatNeedAnEntityAreRefused() throws {
    try withSampleStore { store in
      for options in [["--limit", "1"], ["--select", "id"], ["--id", "1"], ["--format", "csv"]] {
        #expect(try run("mooring-dump", ["records"] + options, store: store).status == 64)
      }
      for options in [["--on-conflict", "skip"], ["--detach"], ["--ids"]] {
        let run = try run("mooring", ["batch", "insert", "-"] + options, store: store)
        #expect(run.status == 64, "\(run.errors)")
      }
      expectFailure(
        try mooring("batch", "insert", "Episode", store: store), 64, "name the file of the items")
      expectFailure(try mooring("batch", "insert", "nope", store: store), 69, "there is no file")
    }
  }
}
