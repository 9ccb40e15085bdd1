import Foundation
import TestSupport
import Testing

/// Commands whose output cannot be written, and commands without the resources they need.
@Suite struct OutputFailureTests {
  /// Standard error that is full, closed, or without a reader.
  private static let unwritable = [
    #"exec "$@" 2>/dev/full"#, #"exec "$@" 2>&-"#, #"exec "$@" <&- 2>&-"#,
    #"exec 3>&1; { { "$@" 2>&1 >&3 3>&-; echo $? >&4; } | exec true; } 4>&1 "#
      + "| { read s; exit $s; }",
  ]

  @Test(arguments: unwritable)
  func theStatusIsThatOfTheWork(_ script: String) throws {
    try withSampleStore { store in
      func status(_ arguments: String..., tool: String = "mooring") throws -> Int32 {
        try run(tool, arguments, in: script, store: store).status
      }
      #expect(try status("set", "Episode", "ep:1", "progress=0.25") == 0)
      let stored = try mooring(
        "fetch", "Episode", "--where", "progress == 0.25", "--select", "id", "--format", "csv",
        store: store)
      #expect(stored.output == "id\r\nep:1\r\n")
      #expect(try status("set", "Episode", "ep:99", "progress=1") == 69)
      #expect(try status("migrate", "up") == 0)
      #expect(try status("jobs", "enqueue", "art") == 0)
      #expect(try status("feed", "pause", "1") == 0)
      #expect(try status("fetch", "Nope") == 64)
      #expect(try status("fetch", "--nope") == 64)
      #expect(try status("records", "Nope", tool: "mooring-dump") == 64)
      #expect(try status("stats", "--nope", tool: "mooring-dump") == 64)
      let check = try mooring("check", store: store)
      #expect(check.status == 0, "\(check.output)\(check.errors)")
    }
  }

  @Test(arguments: unwritable)
  func aNewStoreHoldsNoMessages(_ script: String) throws {
    try withTemporaryFolder { folder in
      let store = folder.path("store")
      #expect(try run("mooring", ["migrate", "up"], in: script, store: store).status == 0)
      let data = try Data(contentsOf: URL(fileURLWithPath: store + "/data.mdb"))
      #expect(data.range(of: Data("created the store".utf8)) == nil)
      #expect(try mooring("check", store: store).status == 0)
    }
  }

  @Test(arguments: [#"exec "$@" >/dev/full"#, #"exec "$@" >&-"#])
  func dataThatCannotBeWrittenIsAnError(_ script: String) throws {
    try withSampleStore { store in
      for arguments in [
        ["fetch", "Episode"], ["check"], ["--help"], ["--version"], ["help", "set"],
      ] {
        let run = try run("mooring", arguments, in: script, store: store)
        expectFailure(run, 74, "the output cannot be written")
      }
      for arguments in [["stats"], ["--help"]] {
        let run = try run("mooring-dump", arguments, in: script, store: store)
        expectFailure(run, 74, "the output cannot be written", tool: "mooring-dump")
      }
    }
  }

  @Test func helpAndVersionArePrinted() throws {
    try withTemporaryFolder { folder in
      let help = try mooring("set", "--help", store: folder.path("store"))
      #expect(help.status == 0 && help.output.contains("USAGE: mooring set"), "\(help.output)")
      let version = try mooringDump("--version", store: folder.path("store"))
      #expect(version.status == 0 && version.output.split(separator: "\n").count == 1)
    }
  }

  @Test(arguments: [("ulimit -n 5", "ulimit -n"), ("ulimit -d 20000", "ulimit -d")])
  func aCommandWithoutResourcesFailsAtOnce(_ limit: String, _ advice: String) throws {
    // A sanitizer needs more memory than that itself.
    if isSanitized, limit.contains("-d") { return }
    try withSampleStore { store in
      let script = "\(limit) && exec \"$@\""
      for arguments in [
        ["fetch", "Episode"], ["set", "Episode", "ep:1", "progress=0.5"], ["sync"],
      ] {
        expectFailure(try run("mooring", arguments, in: script, store: store), 75, advice)
      }
      let dump = try run("mooring-dump", ["stats"], in: script, store: store)
      expectFailure(dump, 75, advice, tool: "mooring-dump")
      #expect(try mooring("check", store: store).status == 0)
    }
  }
}
