import EntityModel
import EntityStore
import Foundation
import TestSupport
import Testing

/// `mooring-dump history` on a history of known content.
@Suite struct HistoryDumpTests {
  private func history(_ store: Store, _ arguments: String...) throws -> ToolRun {
    try run("mooring-dump", ["history"] + arguments, store: store.folder)
  }

  /// The output of a run that succeeds without messages.
  private func output(
    _ store: Store, _ arguments: String..., sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> String {
    let run = try run("mooring-dump", ["history"] + arguments, store: store.folder)
    #expect(run.status == 0 && run.errors.isEmpty, "\(run.errors)", sourceLocation: sourceLocation)
    return run.output
  }

  /// The changes and their records, without the time.
  private func records(_ store: Store, _ arguments: String...) throws -> [String] {
    let run = try run(
      "mooring-dump", ["history", "--format", "csv"] + arguments, store: store.folder)
    #expect(run.status == 0, "\(run.errors)")
    return CommaSeparated.rows(of: run.output).dropFirst()
      .map { "\($0[0]) \($0[3]) \($0[4])" }
  }

  // MARK: Formats

  @Test func aTableHasOneLinePerChangeWithTheBeginningOfEachValue() async throws {
    try await withHistorySample { temporary, _ in
      let table = try output(temporary.store)
      #expect(
        table == """
          sequence  time                     author       kind        record  changed       values
                 1  2026-05-09T06:13:20Z     ui           insert      Dog/1
                 1  2026-05-09T06:13:20Z     ui           insert      Dog/2
                 2  2026-05-09T06:13:25Z                  update      Dog/1   age, friends
                 2  2026-05-09T06:13:25Z                  update      Dog/2   friends
                 3  2026-05-09T06:13:25.25Z  sync         update      Dog/1   name, age     name=Fido the "first", of a name tha…
                 4  2026-05-09T06:13:25.25Z  sync, "too"  update      Dog/1   friends
                 4  2026-05-09T06:13:25.25Z  sync, "too"  delete      Dog/2                 age=7; bornAt=2001-01-01T00:00:00Z; isGood=true; name=Rex; photo=AQL/; price=9.9; tags=a, b "c"; weight=0.5
                 5  2026-05-09T06:13:25.25Z  ui           unrecorded  Dog

          """)
    }
  }

  @Test func aLineOfJSONHasTheValuesByNameAndTheTokenAfterItsWrite() async throws {
    try await withHistorySample { temporary, tokens in
      let rows = [
        #"{"sequence":1,"time":"2026-05-09T06:13:20Z","author":"ui","kind":"insert","record":"Dog/1","changed":[],"values":{},"token":"\#(tokens[0])"}"#,
        #"{"sequence":1,"time":"2026-05-09T06:13:20Z","author":"ui","kind":"insert","record":"Dog/2","changed":[],"values":{},"token":"\#(tokens[0])"}"#,
        #"{"sequence":2,"time":"2026-05-09T06:13:25Z","author":null,"kind":"update","record":"Dog/1","changed":["age","friends"],"values":{},"token":"\#(tokens[1])"}"#,
        #"{"sequence":2,"time":"2026-05-09T06:13:25Z","author":null,"kind":"update","record":"Dog/2","changed":["friends"],"values":{},"token":"\#(tokens[1])"}"#,
        #"{"sequence":3,"time":"2026-05-09T06:13:25.25Z","author":"sync","kind":"update","record":"Dog/1","changed":["name","age"],"values":{"name":"Fido the \"first\", of a name that is\nlonger than a table shows"},"token":"\#(tokens[2])"}"#,
        #"{"sequence":4,"time":"2026-05-09T06:13:25.25Z","author":"sync, \"too\"","kind":"update","record":"Dog/1","changed":["friends"],"values":{},"token":"\#(tokens[3])"}"#,
        #"{"sequence":4,"time":"2026-05-09T06:13:25.25Z","author":"sync, \"too\"","kind":"delete","record":"Dog/2","changed":[],"values":{"age":7,"bornAt":"2001-01-01T00:00:00Z","isGood":true,"name":"Rex","photo":"AQL/","price":"9.9","tags":["a","b \"c\""],"weight":0.5},"token":"\#(tokens[3])"}"#,
        #"{"sequence":5,"time":"2026-05-09T06:13:25.25Z","author":"ui","kind":"unrecorded","record":"Dog","changed":[],"values":{},"token":"\#(tokens[4])"}"#,
      ]
      let lines = try output(temporary.store, "--format", "jsonl")
      #expect(lines == rows.map { $0 + "\n" }.joined())
      let document = try output(temporary.store, "--format", "json")
      #expect(document == "[\n" + rows.joined(separator: ",\n") + "\n]\n")
    }
  }

  @Test func jsonIsADocumentAlsoWithoutRows() async throws {
    try await withHistorySample { temporary, tokens in
      let text = try output(temporary.store, "--format", "json")
      let rows = try #require(
        try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [[String: Any]])
      #expect(rows.count == 8)
      let values = try #require(rows[6]["values"] as? [String: Any])
      #expect(values["age"] as? Int == 7 && values["tags"] as? [String] == ["a", "b \"c\""])
      let after = tokens[4].description
      #expect(try output(temporary.store, "--after", after, "--format", "json") == "[]\n")
      #expect(try output(temporary.store, "--after", after, "--format", "jsonl").isEmpty)
      #expect(
        try output(temporary.store, "--after", after, "--format", "csv")
          == "sequence,time,author,kind,record,changed,values,token\r\n")
      #expect(
        try output(temporary.store, "--after", after)
          == "sequence  time  author  kind  record  changed  values\n")
    }
  }

  @Test func commaSeparatedValuesHoldTheKeptOnesAsJSON() async throws {
    try await withHistorySample { temporary, tokens in
      let rows = CommaSeparated.rows(of: try output(temporary.store, "--format", "csv"))
      #expect(rows.count == 9)
      #expect(
        rows[0] == ["sequence", "time", "author", "kind", "record", "changed", "values", "token"])
      #expect(
        rows[3] == [
          "2", "2026-05-09T06:13:25Z", "", "update", "Dog/1", "age, friends", "{}",
          tokens[1].description,
        ])
      #expect(rows[7][2] == "sync, \"too\"")
      let values = try #require(
        try JSONSerialization.jsonObject(with: Data(rows[7][6].utf8)) as? [String: Any])
      #expect(
        values.keys.sorted() == [
          "age", "bornAt", "isGood", "name", "photo", "price", "tags", "weight",
        ])
    }
  }

  // MARK: Which changes

  @Test func aTokenGoesOnWhereItWasTaken() async throws {
    try await withHistorySample { temporary, tokens in
      let token = try output(temporary.store, "--token")
      #expect(token == "\(tokens[4])\n")
      let rest = ["4 update Dog/1", "4 delete Dog/2", "5 unrecorded Dog"]
      #expect(try records(temporary.store, "--after", tokens[2].description) == rest)
      try await temporary.store.write { _ = try $0.insert("Dog", ["name": "New"]) }
      let after = String(token.dropLast())
      #expect(try records(temporary.store, "--after", after) == ["6 insert Dog/3"])
    }
  }

  /// The row of a script's last line says where it goes on.
  @Test func theTokenOfARowSkipsNothingAndRepeatsNothing() async throws {
    try await withHistorySample { temporary, _ in
      let all = try records(temporary.store)
      var read: [String] = []
      var place: [String] = []
      for _ in 0..<5 {
        let run = try run(
          "mooring-dump", ["history", "--format", "csv", "--limit", "1"] + place,
          store: temporary.store.folder)
        #expect(run.errors.isEmpty)
        let rows = CommaSeparated.rows(of: run.output).dropFirst()
        read += rows.map { "\($0[0]) \($0[3]) \($0[4])" }
        place = ["--after", try #require(rows.last?.last)]
      }
      #expect(read == all && all.count == 8)
    }
  }

  @Test func aLimitCountsWritesAndATableSaysWhereItGoesOn() async throws {
    try await withHistorySample { temporary, tokens in
      let store = temporary.store
      #expect(try records(store, "--limit", "1") == ["1 insert Dog/1", "1 insert Dog/2"])
      #expect(try records(store, "--limit", "0").isEmpty)
      #expect(try records(store, "--limit", "5").count == 8)
      let cut = try history(store, "--limit", "2")
      #expect(cut.status == 0 && cut.lines.count == 5)
      #expect(cut.errors == "mooring-dump: more follows; go on with --after \(tokens[1])\n")
      #expect(try output(store, "--limit", "2", "--quiet") == cut.output)
      #expect(try output(store, "--limit", "5") == output(store))
      #expect(try output(store, "--limit", "0").split(separator: "\n").count == 1)
    }
  }

  @Test func entitiesAndAuthorsAreChosen() async throws {
    try await withHistorySample { temporary, tokens in
      let store = temporary.store
      #expect(
        try records(store, "--except-author", "ui")
          == [
            "2 update Dog/1", "2 update Dog/2", "3 update Dog/1", "4 update Dog/1",
            "4 delete Dog/2",
          ])
      #expect(try records(store, "--entity", "Silent").isEmpty)
      #expect(try records(store, "--entity", "Silent", "--entity", "Dog").count == 8)
      let silent = try history(store, "--entity", "Silent")
      #expect(silent.status == 0)
      #expect(
        silent.errors
          == "mooring-dump: Silent keeps no history; a migration with setHistory begins one\n")
      #expect(try output(store, "--entity", "Silent", "--quiet") == silent.output)
      // The limit counts what was chosen.
      let cut = try history(store, "--except-author", "ui", "--limit", "2")
      #expect(cut.errors == "mooring-dump: more follows; go on with --after \(tokens[2])\n")
    }
  }

  // MARK: Consumers

  @Test func aConsumerReadsWhatItHasNotReadYet() async throws {
    try await withHistorySample { temporary, tokens in
      let store = temporary.store
      try await store.advance(consumer: "mirror", to: tokens[3])
      #expect(try records(store, "--consumer", "mirror") == ["5 unrecorded Dog"])
      // Reading moves nobody.
      #expect(try records(store, "--consumer", "mirror") == ["5 unrecorded Dog"])
    }
  }

  @Test func consumersAreListedWithTheChangesTheyHaveNotRead() async throws {
    try await withHistorySample { temporary, tokens in
      let (store, clock) = (temporary.store, temporary.clock)
      #expect(
        try output(store, "--consumers") == "name  behind  moved  expired  token\n")
      try await store.advance(consumer: "slow", to: tokens[0])
      clock.advance(by: 60)
      try await store.advance(consumer: "fast", to: tokens[4])
      #expect(
        try output(store, "--consumers") == """
          name  behind  moved                    expired  token
          fast       0  2026-05-09T06:14:25.25Z  false    \(tokens[4])
          slow       4  2026-05-09T06:13:25.25Z  false    \(tokens[0])

          """)
      // Longer than consumers are waited for.
      clock.advance(by: 3 * 86_400)
      try await store.write { _ = try $0.insert("Dog", ["name": "Late"]) }
      #expect(
        try output(store, "--consumers", "--format", "jsonl") == """
          {"name":"fast","behind":1,"moved":"2026-05-09T06:14:25.25Z","expired":false,"token":"\(tokens[4])"}
          {"name":"slow","behind":5,"moved":"2026-05-09T06:13:25.25Z","expired":true,"token":"\(tokens[0])"}

          """)
      let expired =
        "mooring-dump: the history no longer reaches back to the token (sequence: 1, oldest "
        + "stored: 6); start again: get a new token, then fetch everything\n"
      for option in [["--consumer", "slow"], ["--after", tokens[0].description]] {
        let run = try run("mooring-dump", ["history"] + option, store: store.folder)
        #expect(run.status == 65 && run.output.isEmpty && run.errors == expired)
      }
    }
  }

  // MARK: Streams

  @Test func aReaderThatLeavesEndsTheHistoryQuietly() async throws {
    try await withHistorySample { temporary, _ in
      // More than a pipe holds, so that the command meets the closed pipe.
      try await temporary.store.write { transaction in
        for number in 0..<3_000 {
          try transaction.insert("Dog", ["name": .string("\(number)")])
        }
      }
      let dump = childExecutable(named: "mooring-dump").path
      let process = SpawnedProcess()
      let (output, errors) = (Pipe(), Pipe())
      process.executableURL = URL(fileURLWithPath: "/bin/bash")
      process.arguments = [
        "-c", "(\(dump) history --format jsonl; echo $? >&2) | head -1",
      ]
      process.environment = ["MOORING_STORE": temporary.store.folder, "PATH": "/usr/bin:/bin"]
      process.standardOutput = output
      process.standardError = errors
      try process.run()
      let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
      let said = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
      process.waitUntilExit()
      #expect(text.hasPrefix(#"{"sequence":1,"#) && text.split(separator: "\n").count == 1)
      #expect(said == "0\n")
    }
  }
}
