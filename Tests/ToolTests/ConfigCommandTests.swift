import Foundation
import TestSupport
import Testing

@Suite struct ConfigCommandTests {
  private struct Document: Decodable {
    struct Setting: Decodable {
      let name: String
      let value: String?
      let source: String
      let sourceName: String?
      let line: Int?
      let flag: String
      let environment: String
      let change: String
    }
    let file: String?
    let settings: [Setting]
  }

  private func document(
    _ arguments: [String] = [], environment: [String: String] = [:]
  ) throws -> Document {
    let run = try run(
      "mooring", ["config", "--format", "json"] + arguments, store: "/nonexistent",
      environment: environment)
    #expect(run.status == 0, "\(run.errors)")
    return try JSONDecoder().decode(Document.self, from: Data(run.output.utf8))
  }

  @Test func everySettingHasAFlagThatCounts() throws {
    let defaults = try document()
    #expect(defaults.settings.count == 16)
    #expect(defaults.settings.allSatisfy { $0.source == "default" })
    // Each flag with the default's text, and "" for none.
    let flags = try document(defaults.settings.flatMap { [$0.flag, $0.value ?? ""] })
    for (setting, before) in zip(flags.settings, defaults.settings) {
      #expect(setting.source == "flag" && setting.sourceName == setting.flag)
      #expect(setting.value == before.value)
    }
  }

  @Test func theTableShowsWhereEachValueComesFrom() throws {
    try withTemporaryFolder { folder in
      let file = folder.path("worker.yaml")
      try Data("concurrency: 3\nblockingThreads: 2\n".utf8).write(to: URL(fileURLWithPath: file))
      let run = try run(
        "mooring", ["config", "--log-level", "debug"], store: "/nonexistent",
        environment: ["CONFIGURATION_DIRECTORY": folder.path, "MOORING_WORKER_JITTER": "0.5"])
      #expect(run.status == 0)
      #expect(run.errors.isEmpty)
      let rows = run.lines.map { $0.split(separator: " ").map(String.init) }
      #expect(rows.first == ["setting", "value", "from", "change"])
      #expect(rows.contains(["concurrency", "3", "\(file):1", "live"]))
      #expect(rows.contains(["blockingThreads", "2", "\(file):2", "restart"]))
      #expect(rows.contains(["jitter", "0.5", "MOORING_WORKER_JITTER", "live"]))
      #expect(rows.contains(["logLevel", "debug", "--log-level", "live"]))
      #expect(rows.contains(["queues", "none", "default", "live"]))
    }
  }

  @Test func aBadFileEndsWith78AndItsPlace() throws {
    try withTemporaryFolder { folder in
      let file = folder.path("worker.yaml")
      try Data("concurrency: 3\nlogLevel: loud\n".utf8).write(to: URL(fileURLWithPath: file))
      let bad = try mooring("config", "--config", file, store: "/nonexistent")
      #expect(bad.status == 78)
      #expect(bad.errors.hasPrefix("\(file):2:11: logLevel takes one of trace, "))
      #expect(bad.output.isEmpty)
      expectFailure(
        try mooring("config", "--config", folder.path("none"), store: "/nonexistent"), 78,
        "cannot be read: No such file or directory")
    }
  }

  @Test func badFlagsAreUsageAndBadVariablesConfiguration() throws {
    expectFailure(
      try mooring("config", "--jitter", "2", store: "/nonexistent"), 64,
      "--jitter takes a number from 0 to 1")
    expectFailure(
      try mooring(
        "config", store: "/nonexistent", environment: ["MOORING_WORKER_JITTER": "2"]), 78,
      "MOORING_WORKER_JITTER takes a number from 0 to 1")
    #expect(try mooring("config", "--format", "csv", store: "/nonexistent").status == 64)
    let warned = try mooring(
      "config", store: "/nonexistent", environment: ["MOORING_WORKER_JITER": "2"])
    #expect(warned.status == 0)
    #expect(warned.errors.contains("did you mean \"MOORING_WORKER_JITTER\"?"))
  }
}
