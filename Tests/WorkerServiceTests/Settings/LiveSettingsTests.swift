import Foundation
import Testing
import WorkerService

@Suite struct LiveSettingsTests {
  @Test func aReloadAppliesLiveSettingsAndReportsTheOthers() throws {
    try withSettingsFile("concurrency: 3\nblockingThreads: 2\n") { file in
      let live = try LiveSettings { try WorkerSettings.load(environment: [:], file: file) }
      #expect(live.reload() == .unchanged)

      try write("concurrency: 5\nblockingThreads: 6\nsyncEvery: 1h\n", file)
      #expect(
        live.reload()
          == .changed(live: ["concurrency", "syncEvery"], afterRestart: ["blockingThreads"]))
      #expect(live.current.concurrency == 5)
      #expect(live.current.syncEvery == .seconds(3_600))
      #expect(live.current.blockingThreads == 2)
      // It still needs the restart, and is said again.
      #expect(live.reload() == .changed(live: [], afterRestart: ["blockingThreads"]))

      try write("{}", file)
      guard case .changed = live.reload() else {
        Issue.record("the file changed")
        return
      }
      #expect(live.current.concurrency == 16)
    }
  }

  @Test func aBadFileLeavesTheOldSettings() throws {
    try withSettingsFile("concurrency: 3\n") { file in
      let live = try LiveSettings { try WorkerSettings.load(environment: [:], file: file) }
      try write("concurrency: 5\nlogLevel: loud\n", file)
      guard case .refused(let message) = live.reload() else {
        Issue.record("a bad file was taken")
        return
      }
      #expect(message.hasPrefix("\(file):2:11: logLevel takes one of"))
      #expect(live.current.concurrency == 3)
      try FileManager.default.removeItem(atPath: file)
      guard case .refused = live.reload() else {
        Issue.record("a missing file was taken")
        return
      }
      try write("concurrency: 5\n", file)
      #expect(live.reload() == .changed(live: ["concurrency"], afterRestart: []))
    }
  }

  @Test func theFirstReadingMustSucceed() {
    #expect(throws: SettingsError.self) {
      try LiveSettings { try WorkerSettings.load(environment: [:], file: "/nonexistent") }
    }
  }

  private func write(_ text: String, _ file: String) throws {
    try Data(text.utf8).write(to: URL(fileURLWithPath: file))
  }
}
