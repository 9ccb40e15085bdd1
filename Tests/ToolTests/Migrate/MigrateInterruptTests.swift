import Foundation
import Glibc
import TestSupport
import Testing

@Suite struct MigrateInterruptTests {
  @Test(arguments: [SIGINT, SIGTERM])
  func upResumesAfterAnInterrupt(signal: Int32) throws {
    let expected = try withCities(pending: [Cities.second]) { store in
      #expect(try migrate("up", store: store).status == 0)
      return try contents(store)
    }
    try interrupted(by: signal) { store, run in
      #expect(run.status == 130, "\(run.errors)")
      #expect(
        run.errors.hasSuffix("mooring: interrupted; `mooring migrate up` continues from here\n"))
      expectFailure(
        try mooring(
          "batch", "delete", "City", "--all", store: store, environment: environment(store)), 78,
        "local 0002_more")
      #expect(try mooring("fetch", "City", "--count", store: store).output == "\(Cities.count)\n")
      let status = try json(try migrate("status", "--format", "json", store: store))
      let underWay = try #require(status["underWay"] as? [String: Any])
      #expect(underWay["migration"] as? String == "0002_more" && status["holder"] == nil)
      let again = try migrate("up", store: store)
      #expect(again.status == 0, "\(again.errors)")
      #expect(try contents(store) == expected)
    }
  }

  @Test func upResumesAfterAKill() throws {
    let expected = try withCities(pending: [Cities.second]) { store in
      #expect(try migrate("up", store: store).status == 0)
      return try contents(store)
    }
    try interrupted(by: SIGKILL) { store, run in
      #expect(run.status == -SIGKILL)
      let check = try migrate("status", "--check", store: store)
      #expect(check.status == 78)
      let again = try migrate("up", store: store)
      #expect(again.status == 0, "\(again.errors)")
      #expect(try contents(store) == expected)
    }
  }

  /// Ends `up` in its first long step. A run that was faster than the signal is tried again.
  private func interrupted(by signal: Int32, _ body: (String, ToolRun) throws -> Void) throws {
    for _ in 1...5 {
      let isDone = try withCities(pending: [Cities.second]) { store in
        let tool = try StartedTool(
          "mooring", ["migrate", "up"], store: store, environment: environment(store))
        try tool.waitForError("step 1 of 3")
        kill(tool.pid, signal)
        let run = try tool.finish()
        if run.status == 0 { return false }
        try body(store, run)
        return true
      }
      if isDone { return }
    }
    Issue.record("every run was done before the signal came")
  }
}
