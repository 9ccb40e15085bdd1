import Foundation
import LoopbackHTTP
import SystemSupport
import TestSupport
import Testing

/// `free-episodes` as a process, while `mooring sync` in another one pulls a feed that changes.
@Suite struct FreeEpisodesTests {
  /// One change of the feed, and the resulting lines.
  private struct Step {
    let items: [String]
    let lines: [String]
  }

  private static let steps = [
    // A free episode, newer than both.
    Step(
      items: [item("ep:3", 1, "Coffee", day: 9)],
      lines: ["+ [0,0]            Coffee"]),
    // Another title in the same place.
    Step(
      items: [item("ep:1", 1, "Harbor at night", day: 5, revision: 2)],
      lines: ["~ [0,1]            Harbor at night"]),
    // The oldest becomes the newest; what could steer a terminal is not printed.
    Step(
      items: [item("ep:2", 1, #"Mill\u001b[2J\nwheel"#, day: 10, revision: 2)],
      lines: ["> [0,2] -> [0,0]   Mill[2Jwheel"]),
    // The first preview.
    Step(
      items: [item("ep:4", 3, "Stars", day: 1)],
      lines: ["+ section preview", "+ [1,0]            Stars"]),
    // From one section to the other, which empties it.
    Step(
      items: [item("ep:4", 1, "Stars", day: 1, revision: 2)],
      lines: ["- section preview", "> [1,0] -> [0,3]   Stars"]),
    // A member's episode is none of these, and one that becomes it no longer is.
    Step(items: [item("ep:5", 2, "Costly", day: 11)], lines: []),
    Step(items: [item("ep:3", 2, "Coffee", day: 9, revision: 2)], lines: ["- [0,1]"]),
    Step(
      items: [#"{"id":"ep:1","kind":"Episode","rev":3,"deleted":true}"#],
      lines: ["- [0,1]"]),
  ]

  @Test func showsTheItemsThatAnotherProcessSyncs() throws {
    let document = Document(
      mode: #""mode":"full","version":1"#,
      items: [Self.item("ep:1", 1, "Harbor", day: 5), Self.item("ep:2", 1, "Mill", day: 3)])
    let answer = Locked(document)
    let server = try LoopbackServer { _, connection in
      try connection.send(SampleFeed.json(answer.withLock { $0.bytes }))
    }
    defer { server.stop() }
    try withTemporaryFolder { folder in
      let store = folder.path("store")
      #expect(try mooring("sync", server.url + "/feed", store: store).status == 0)
      let program = try ChildProcess(childExecutable(named: "free-episodes"), [store])
      defer { program.kill() }
      #expect(program.readLine() == "watching 2 episodes")
      for (number, step) in Self.steps.enumerated() {
        let version = number + 2
        answer.withLock {
          $0 = Document(
            mode: #""mode":"delta","since":\#(version - 1),"version":\#(version)"#,
            items: step.items)
        }
        #expect(try mooring("sync", store: store).status == 0)
        for line in step.lines { #expect(program.readLine() == line) }
      }
      program.signal(SIGTERM)
      #expect(program.waitForExit() == .init(status: 0, wasSignal: false))
      #expect(program.readLine() == nil)
      #expect(program.readErrors().isEmpty)
      #expect(try mooring("check", store: store).status == 0)
    }
  }

  @Test func endsAtAnInterruptAndRefusesAFolderWithoutAStore() throws {
    try withSampleStore { store in
      let program = try ChildProcess(childExecutable(named: "free-episodes"), [store])
      #expect(program.readLine() == "watching 3 episodes")
      program.signal(SIGINT)
      #expect(program.waitForExit() == .init(status: 0, wasSignal: false))
    }
    try withTemporaryFolder { folder in
      let run = try run("free-episodes", [folder.path("none")], store: folder.path("none"))
      expectFailure(run, 1, "none", tool: "free-episodes")
    }
  }

  // MARK: The feed

  private struct Document {
    /// How the listing is to be read, as members of the object.
    let mode: String
    let items: [String]

    var bytes: [UInt8] {
      let entities = items.joined(separator: ",")
      return Array(
        #"{"format":"homefeed/1","epoch":"e","checkpoint":"c",\#(mode),"entities":[\#(entities)]}"#
          .utf8)
    }
  }

  /// - Parameter title: As it stands in JSON.
  private static func item(
    _ id: String, _ type: Int, _ title: String, day: Int, revision: Int = 1
  ) -> String {
    let date = "2026-01-\(day < 10 ? "0" : "")\(day)T00:00:00Z"
    return """
      {"id":"\(id)","kind":"Episode","rev":\(revision),"updatedAt":"\(date)",
      "attrs":{"title":"\(title)","type":\(type)}}
      """
  }
}
