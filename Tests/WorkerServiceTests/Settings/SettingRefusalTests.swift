import Foundation
import StrictYAML
import TestSupport
import Testing
import WorkerService

@Suite struct SettingRefusalTests {
  @Test(arguments: [
    ("concurency: 3", "1:1: the key \"concurency\" is unknown; did you mean \"concurrency\"?"),
    ("jitter: 0.1\njitter: 0.2", "2:1: the key \"jitter\" is already there, at line 1; keep one"),
    ("concurrency: 0", "1:14: concurrency takes a whole number from 1 to 256, not \"0\""),
    ("concurrency: eight", "1:14: expected a whole number such as 42, found \"eight\""),
    ("concurrency: \"8\"", "1:14: expected a whole number such as 42, found the quoted text"),
    ("concurrency: [8]", "1:14: expected a whole number such as 42, found a sequence"),
    ("concurrency: null", "1:14: concurrency takes a whole number from 1 to 256, not null"),
    ("concurrency:", "1:"),
    ("logLevel: info\n\nsyncEvery:  5x", "3:13: syncEvery takes a time from 10s to 30d"),
    ("syncEvery: 9s", "1:12: syncEvery takes a time from 10s to 30d, such as 15m, not \"9s\""),
    ("syncEvery: 900", "1:12: syncEvery takes a time"),
    ("syncEvery: 99999999999999999999d", "1:12: syncEvery takes a time"),
    ("syncEvery: 9223372036854775807d", "1:12: syncEvery takes a time"),
    ("jitter: 1.5", "1:9: jitter takes a number from 0 to 1, such as 0.1, not \"1.5\""),
    ("jitter: .inf", "1:9: expected a number such as 0.5, found \".inf\""),
    ("logLevel: loud", "1:11: logLevel takes one of trace, debug, info, notice"),
    ("logFormat: xml", "1:12: logFormat takes one of text, json, not \"xml\""),
    ("diskReserve: 64MB", "1:14: diskReserve takes a size from 0B to 1TiB, such as 64MiB"),
    ("diskReserve: 2T", "1:14: diskReserve takes a size"),
    ("metricsFile: /a/metrics.txt", "1:14: metricsFile takes a path that ends in .prom"),
    ("metricsFile: /a/.prom", "1:14: metricsFile takes a path that ends in .prom"),
    ("queues: 4", "1:9: expected a mapping, found \"4\""),
    ("queues: { sync: many }", "1:17: expected a whole number"),
    ("queues: { sync: 0 }", "1:17: a queue's limit is from 1 to 256, not 0"),
    ("queues: { \"a b\": 1 }", "1:18: a queue's name has letters, digits"),
    ("- concurrency: 8", "1:1: expected a mapping, found a sequence"),
    ("concurrency: &a 8", "1:14: anchors"),
    ("concurrency: 8\n---\nconcurrency: 9", "2:1:"),
    ("\tconcurrency: 8", "1:"),
  ])
  func aMistakeInTheFileIsReportedWithItsPlace(_ text: String, _ message: String) throws {
    try withSettingsFile(text) { file in
      do {
        _ = try WorkerSettings.load(environment: [:], file: file)
        Issue.record("no error for \(text)")
      } catch let error as YAMLError {
        #expect("\(error)".hasPrefix("\(file):\(message)"), "\(error)")
      }
    }
  }

  @Test func aFileThatIsHugeIsRefused() throws {
    try withSettingsFile("# " + String(repeating: "x", count: 70_000)) { file in
      #expect(throws: YAMLError.self) { try WorkerSettings.load(environment: [:], file: file) }
    }
    // Without an end, it is not read to its end.
    #expect(throws: YAMLError.self) {
      try WorkerSettings.load(environment: [:], file: "/dev/zero")
    }
  }

  @Test(arguments: [
    ("concurrency", "0"), ("concurrency", "08"), ("concurrency", "+8"), ("concurrency", " 8"),
    ("concurrency", ""), ("concurrency", "٣"), ("jitter", "nan"), ("jitter", "1e-1"),
    ("jitter", "-0.1"), ("jitter", "."), ("syncEvery", ""), ("syncEvery", "m"),
    ("syncEvery", "15 m"), ("syncEvery", "1.5h"), ("syncEvery", "-15m"), ("syncEvery", "15M"),
    ("queues", "sync"), ("queues", "sync="), ("queues", "sync=1,"), ("queues", "sync=1,sync=2"),
    ("queues", "=1"), ("queues", "sync=257"), ("logLevel", "Info"), ("metricsFile", "x"),
    ("diskReserve", "-1B"), ("diskReserve", "64"), ("diskReserve", "9223372036854775807K"),
  ])
  func anInvalidValueIsRefusedByFlagAndVariable(_ name: String, _ text: String) throws {
    let setting = try #require(Setting.all.first { $0.name == name })
    let flag = #expect(throws: SettingsError.self) {
      try WorkerSettings.load(flags: [name: text], environment: [:])
    }
    #expect(flag?.code == .flag)
    #expect(flag?.description == "\(setting.flag) takes \(setting.expectation), not \"\(text)\"")
    // An empty variable is none.
    guard !text.isEmpty else { return }
    let variable = #expect(throws: SettingsError.self) {
      try WorkerSettings.load(environment: [setting.environmentName: text])
    }
    #expect(variable?.code == .environment)
    #expect(variable?.description.hasPrefix("\(setting.environmentName) takes ") == true)
  }

  @Test func overriddenValuesMustBeValidToo() throws {
    try withSettingsFile("jitter: 2") { file in
      #expect(throws: YAMLError.self) {
        try WorkerSettings.load(flags: ["jitter": "0.2"], environment: [:], file: file)
      }
    }
    #expect(throws: SettingsError.self) {
      try WorkerSettings.load(
        flags: ["jitter": "0.2"], environment: ["MOORING_WORKER_JITTER": "2"])
    }
  }
}
