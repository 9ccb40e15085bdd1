import Foundation
import TestSupport
import Testing

@Suite struct BatchInsertFileTests {
  private func insert(
    _ text: String, _ arguments: String..., store: String
  ) throws -> ToolRun {
    let file = store + ".items"
    try Data(text.utf8).write(to: URL(fileURLWithPath: file))
    let run = try run(
      "mooring", ["batch", "insert", "Venue", file] + arguments, store: store,
      environment: environment(store))
    // The path of a temporary folder says nothing.
    return ToolRun(
      status: run.status, output: run.output, errors: run.errors.replacing(file, with: "FILE"))
  }

  private static let values = [
    #"{"name":"d","wins":4,"zone":"x, \"y\"","score":1.5,"price":"9.99","isOpen":true,"#,
    #""openedAt":"2026-01-31T00:00:00Z","tags":["q","r"],"level":"high","owner":"Venue/1"}"#,
  ].joined()

  @Test(arguments: [
    values, values + "\n\n", "\u{FEFF}" + values, "[" + values + "]", " [ \n" + values + "\n ]\n",
    """
    name,wins,zone,score,price,isOpen,openedAt,tags,level,owner\r
    d,4,"x, ""y""\",1.5,9.99,true,2026-01-31T00:00:00Z,"q,r",high,Venue/1\r
    """,
  ])
  func everyFormInsertsTheSameValues(text: String) throws {
    try withVenues { store in
      let run = try insert(text, store: store)
      #expect(run.status == 0, "\(run.errors)")
      #expect(
        run.output
          == "entity  inserted  updated  skipped  refused\nVenue          1        0        0        0\n"
      )
      let fetch = try mooring(
        "fetch", "Venue", "--where", "name == \"d\"", "--select",
        "wins,zone,score,price,isOpen,openedAt,tags,level,owner.name", "--format", "jsonl",
        store: store)
      #expect(
        fetch.output == #"{"wins":4,"zone":"x, \"y\"","score":1.5,"price":"9.99","isOpen":true,"#
          + #""openedAt":"2026-01-31T00:00:00Z","tags":["q","r"],"level":2,"owner.name":"a"}"#
          + "\n")
    }
  }

  @Test func emptyFieldsAreNoValueAndQuotedOnesEmptyText() throws {
    try withVenues { store in
      let run = try insert("name,zone,score\nd,,\ne,\"\",2\nnull,null,\n", store: store)
      #expect(run.status == 0, "\(run.errors)")
      #expect(try names("zone == nil AND wins == 0", store) == ["a", "d"])
      #expect(try names("zone == \"\"", store) == ["e"])
      #expect(try names("zone == \"null\"", store) == ["null"])
    }
  }

  @Test func aConflictIsSkippedOrUpdatesWhatTheItemNames() throws {
    try withVenues { store in
      let items = #"{"name":"a","zone":"z"}"# + "\n" + #"{"name":"n","wins":9}"#
      let skip = try insert(items, "--on-conflict", "skip", "--format", "csv", store: store)
      #expect(
        skip.output
          == "entity,inserted,updated,skipped,refused\r\nVenue,1,0,1,0\r\n")
      let update = try insert(
        items, "--on-conflict", "update", "--by", "name", "--ids", store: store)
      #expect(update.lines == ["Venue/1", "Venue/4"])
      #expect(try names("zone == \"z\" AND wins == 0", store) == ["a"])
    }
  }

  @Test(arguments: [
    (#"{"name":"d"}"# + "\n" + #"{"name":"b"}"#, "FILE:2: another record has the same unique"),
    (#"{"name":"d"}"# + "\n\n{", "FILE:3: the item is no JSON"),
    (#"[{"name":"d"},"# + "\n5]", "FILE:2: an item is a JSON object"),
    (#"{"name":"d"}"# + "\n" + #"{"nane":"e"}"#, #"FILE:2: no such attribute"#),
    (#"{"name":"d"}"# + "\n" + #"{"name":7}"#, "FILE:2: \"7\" is no string for name"),
    (#"{"name":"d"}"# + "\n" + #"{"name":"e","_id":7}"#, "leave out _id"),
    (#"{"name":"d"}"# + "\n" + #"{"name":"e","owner":"x"}"#, "write Venue/7"),
    (#"{"name":"d"}"# + "\n" + #"{"name":"e","owner":"Venue/77"}"#, "leads to no record"),
    (#"{"name":"d"}"# + "\n" + #"{"name":"e","wins":101}"#, "more than the maximum 100"),
    (#"{"name":"d"}"# + "\n" + #"{"name":"e","openedAt":"null"}"#, "is no date for openedAt"),
    ("name,wins\nd,1\ne,x\n", "FILE:3: \"x\" is no int64 for wins"),
    ("name,wins\nd,1\ne\n", "FILE:3: the row has 1 fields, and the header 2"),
    ("name,wins\nd,1\n\"e,2\n", "FILE:3: a field has no closing quote"),
    ("name,wins\nd,1\n\"e\"x,2\n", "FILE:3: text follows a closing quote"),
    ("name,wins\nd,1\ne\"x,2\n", "FILE:3: a quote is within a field"),
  ])
  func aRefusedItemIsNamedByItsLineAndThoseBeforeStay(text: String, says: String) throws {
    try withVenues { store in
      let run = try insert(text, "--quiet", store: store)
      expectFailure(run, 65, says)
      #expect(run.output.isEmpty)
      #expect(try names("name BEGINSWITH \"d\" OR name == \"e\"", store) == ["d"])
      // Put right, the same command goes on.
      let right = try insert(text.prefix(while: { $0 != "\n" }) + "\n", store: store)
      if text.hasPrefix("{") {
        #expect(right.status == 0, "\(right.errors)")
        #expect(right.errors == "mooring: continued an interrupted run\n")
      }
    }
  }

  @Test func missingIdentitiesOfAnInterruptedRunAreReported() throws {
    try withVenues { store in
      let first = try insert("name\nd\nb\n", "--ids", "--quiet", store: store)
      expectFailure(first, 65, "FILE:3: another record")
      let second = try insert("name\nd\ne\n", "--ids", "--quiet", store: store)
      #expect(second.status == 0 && second.lines == ["Venue/5"])
      #expect(
        second.errors == "mooring: not listed, because an interrupted run has changed them: 1\n")
    }
  }

  @Test(arguments: [
    "name,name\nd,e\n", "name,\"x\nd,e\n", "[5", "{]", #"[{"name":"d"}"#, #"[{"name":"d"}] 5"#,
    "\u{1}\u{2}\n\u{3}\n",
  ])
  func garbageIsRefusedAsBadData(text: String) throws {
    try withVenues { store in
      let run = try insert(text, store: store)
      expectFailure(run, 65, "FILE:")
      #expect(try names("TRUEPREDICATE", store) == ["a", "b", "c"])
    }
  }

  @Test func mutatedFilesAreInsertedOrRefused() throws {
    var random = SeededRandom(seed: testSeed(41))
    try withVenues { store in
      for round in 0..<(isThorough ? 300 : 12) {
        var bytes = Array((Self.values + "\n[" + Self.values + "]").utf8)
        for _ in 0..<4 {
          bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(
            in: 0...255, using: &random)
        }
        let file = store + ".bytes"
        try Data(bytes).write(to: URL(fileURLWithPath: file))
        let run = try batch(
          "insert", "Venue", file, "--keep-going", "--restart", "--on-conflict", "skip",
          store: store)
        #expect([0, 65].contains(run.status), "seed \(random.seed), round \(round): \(run.errors)")
      }
    }
  }

  @Test func keepGoingInsertsTheOthersAndReportsEach() throws {
    try withVenues { store in
      let run = try insert(
        "name,wins\nd,1\na,1\ne,x\nf\n\"g\"h,1\ni,7\n", "--keep-going", store: store)
      #expect(run.status == 65)
      #expect(run.lines.last == "Venue          2        0        0        4")
      let lines = run.errors.split(separator: "\n")
      #expect(lines.count == 4, "\(run.errors)")
      for (line, number) in zip(lines, 3...6) {
        #expect(line.hasPrefix("mooring: FILE:\(number): "), "\(line)")
      }
      #expect(try names("TRUEPREDICATE", store) == ["a", "b", "c", "d", "i"])
    }
  }

  @Test func decimalsKeepTheDigitsOfTheirNumbers() throws {
    try withVenues { store in
      let items = ["0.00001", "1e20", "0.12345678901234567890123", "-1.5e-3"].enumerated().map {
        #"{"name":"d\#($0)","price":\#($1)}"#
      }
      let run = try insert(items.joined(separator: "\n"), store: store)
      #expect(run.status == 0, "\(run.errors)")
      let fetch = try mooring(
        "fetch", "Venue", "--where", "price != nil", "--select", "price", "--sort", "name",
        "--format", "csv", store: store)
      #expect(
        fetch.output.split(whereSeparator: \.isNewline).dropFirst()
          == ["0.00001", "100000000000000000000", "0.12345678901234567890123", "-0.0015"])
      let wide = try insert(#"{"name":"e","price":1e300}"#, store: store)
      expectFailure(wide, 65, "FILE:1: \"1e+300\" is no decimal for price")
    }
  }

  @Test(.timeLimit(.minutes(2))) func anInterruptEndsABatchThatReadsAnIdlePipe() throws {
    try withVenues { store in
      let pipe = store + ".pipe"
      #expect(mkfifo(pipe, 0o600) == 0)
      let waiting = try StartedTool(
        "mooring", ["batch", "insert", "Venue", pipe], store: store,
        environment: environment(store))
      // The batch takes its lease just before it reads.
      while !FileManager.default.fileExists(atPath: store + "/batch.lock") { sched_yield() }
      kill(waiting.pid, SIGINT)
      let run = try waiting.finish()
      #expect(run.status == 130, "\(run.errors)")
    }
  }

  @Test func afterAnInterruptTheSameCommandResumes() throws {
    try withVenues { store in
      let pipe = store + ".pipe"
      #expect(mkfifo(pipe, 0o600) == 0)
      let arguments = ["batch", "insert", "Venue", pipe]
      let interrupted = try StartedTool(
        "mooring", arguments, store: store, environment: environment(store))
      // Waits until the command has opened it, and then keeps it waiting for more.
      let writer = try #require(FileHandle(forWritingAtPath: pipe))
      try writer.write(contentsOf: Data(#"{"name":"d"}"#.utf8 + [0x0A]))
      kill(interrupted.pid, SIGINT)
      let first = try interrupted.finish()
      #expect(first.status == 130, "\(first.errors)")
      #expect(first.errors.contains("the same command continues from there"))
      try writer.close()

      let resumed = try StartedTool(
        "mooring", arguments, store: store, environment: environment(store))
      let again = try #require(FileHandle(forWritingAtPath: pipe))
      try again.write(contentsOf: Data("{\"name\":\"d\"}\n{\"name\":\"e\"}\n".utf8))
      try again.close()
      let second = try resumed.finish()
      #expect(second.status == 0, "\(second.errors)")
      #expect(try names("TRUEPREDICATE", store) == ["a", "b", "c", "d", "e"])
    }
  }
}
