import Foundation
import StrictYAML
import TestSupport
import Testing
import WorkerService

@Suite struct SettingPrecedenceTests {
  /// The places that set a value, and the one that takes precedence.
  @Test(arguments: [("90s", 90), ("15m", 900), ("2h", 7_200), ("3d", 259_200)])
  func timesHaveUnits(_ text: String, _ seconds: Int) throws {
    let effective = try WorkerSettings.load(flags: ["syncEvery": text], environment: [:])
    #expect(effective.settings.syncEvery == .seconds(seconds))
  }

  @Test(arguments: [("7B", 7), ("3KiB", 3 << 10), ("64M", 64 << 20), ("1GiB", 1 << 30)])
  func sizesHaveUnits(_ text: String, _ bytes: Int64) throws {
    let effective = try WorkerSettings.load(flags: ["diskReserve": text], environment: [:])
    #expect(effective.settings.diskReserve == bytes)
  }

  @Test(arguments: [
    (flag: false, environment: false, file: false, counts: "15m", source: "default"),
    (false, false, true, "1m", "FILE:2"),
    (false, true, false, "2m", "MOORING_WORKER_SYNC_EVERY"),
    (false, true, true, "2m", "MOORING_WORKER_SYNC_EVERY"),
    (true, false, false, "3m", "--sync-every"),
    (true, false, true, "3m", "--sync-every"),
    (true, true, false, "3m", "--sync-every"),
    (true, true, true, "3m", "--sync-every"),
  ])
  func theNearestPlaceCounts(
    _ row: (flag: Bool, environment: Bool, file: Bool, counts: String, source: String)
  ) throws {
    try withSettingsFile(row.file ? "jitter: 0.2\nsyncEvery: 1m\n" : "jitter: 0.2\n") { file in
      let effective = try WorkerSettings.load(
        flags: row.flag ? ["syncEvery": "3m"] : [:],
        environment: row.environment ? ["MOORING_WORKER_SYNC_EVERY": "2m"] : [:], file: file)
      let item = try #require(effective.items.first { $0.setting.name == "syncEvery" })
      #expect(item.text == row.counts)
      #expect("\(item.source)" == row.source.replacing("FILE", with: file))
      #expect(Setting.syncEvery.text(of: effective.settings) == row.counts)
      // The others keep their own sources.
      let jitter = try #require(effective.items.first { $0.setting.name == "jitter" })
      #expect(jitter.source == .file(path: file, line: 1))
      #expect(effective.items.count { $0.source == .default } >= Setting.all.count - 2)
    }
  }

  /// A value of each setting that is not its default, as flags and variables have it.
  static let others = [
    "concurrency": "3", "blockingThreads": "2", "queues": "import=1,sync=4", "syncEvery": "90s",
    "jitter": "0.25", "hostSpacing": "500ms",
    "contact": "https://example.org/about", "drainTimeout": "2m", "logLevel": "debug",
    "logFormat": "json", "metricsFile": "/var/lib/node/mooring.prom", "metricsEvery": "30s",
    "slowFetch": "200ms", "diskReserve": "1GiB", "keepFinished": "30d", "pruneEvery": "1h",
  ]

  @Test func everySettingCanBeSetInEveryPlace() throws {
    #expect(Set(Self.others.keys) == Set(Setting.all.map(\.name)))
    let lines = Self.others.map { name, text in
      name == "queues" ? "queues: { import: 1, sync: 4 }" : "\(name): \(text)"
    }
    try withSettingsFile(lines.joined(separator: "\n")) { file in
      let byFlags = try WorkerSettings.load(flags: Self.others, environment: [:])
      let variables = Setting.all.map { ($0.environmentName, Self.others[$0.name] ?? "") }
      let byEnvironment = try WorkerSettings.load(
        environment: Dictionary(uniqueKeysWithValues: variables))
      let byFile = try WorkerSettings.load(environment: [:], file: file)
      for effective in [byFlags, byEnvironment, byFile] {
        #expect(!effective.items.contains { $0.source == .default })
        for item in effective.items { #expect(item.text == Self.others[item.setting.name]) }
        #expect(effective.settings == byFlags.settings)
      }
      #expect(byFlags.settings.queues.map(\.limit) == [1, 4])
      #expect(byFlags.settings.hostSpacing == .milliseconds(500))
      #expect(byFlags.settings.diskReserve == 1 << 30)
    }
  }

  @Test func theDefaultsAreValuesOfTheirSettings() throws {
    let defaults = Setting.all.map { ($0.name, $0.defaultText) }
    let read = try WorkerSettings.load(
      flags: Dictionary(uniqueKeysWithValues: defaults), environment: [:])
    #expect(read.settings == WorkerSettings())
  }

  @Test func namesDeriveFromTheKey() {
    #expect(Setting.syncEvery.flag == "--sync-every")
    #expect(Setting.syncEvery.environmentName == "MOORING_WORKER_SYNC_EVERY")
    #expect(Set(Setting.all.map(\.flag)).count == Setting.all.count)
  }

  @Test func anEmptyVariableIsNoneAndAnEmptyFlagUndoesAPath() throws {
    let variables = ["MOORING_WORKER_METRICS_FILE": "/a/b.prom", "MOORING_WORKER_JITTER": ""]
    let kept = try WorkerSettings.load(environment: variables)
    #expect(kept.settings.metricsFile == "/a/b.prom")
    #expect(kept.settings.jitter == 0.1)
    let undone = try WorkerSettings.load(flags: ["metricsFile": ""], environment: variables)
    #expect(undone.settings.metricsFile == nil)
  }

  @Test func anUnknownVariableIsAWarning() throws {
    let effective = try WorkerSettings.load(environment: [
      "MOORING_WORKER_JITER": "1", "MOORING_WORKER_ZZZ": "1", "MOORING_STORE": "/s",
    ])
    try #require(effective.warnings.count == 2)
    #expect(effective.warnings[0].contains("did you mean \"MOORING_WORKER_JITTER\"?"))
    #expect(effective.warnings[1].contains("MOORING_WORKER_ZZZ is no setting"))
  }
}

/// Runs `body` with the path of a file of settings.
func withSettingsFile(_ text: String, _ body: (String) throws -> Void) throws {
  try withTemporaryFolder { folder in
    let path = folder.path("worker.yaml")
    try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    try body(path)
  }
}
