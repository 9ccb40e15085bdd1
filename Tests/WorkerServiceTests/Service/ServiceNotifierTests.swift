import Foundation
import Glibc
import TestSupport
import Testing
import WorkerService

@Suite struct ServiceNotifierTests {
  @Test func statesArriveAtASocketWithAPath() throws {
    try withTemporaryFolder { folder in
      let path = folder.path("notify")
      try exchange(path)
    }
  }

  @Test func statesArriveAtAnAbstractSocket() throws {
    try exchange("@mooring-test-\(UUID().uuidString)")
  }

  private func exchange(_ name: String) throws {
    let socket = try NotifySocket(name)
    let notifier = try #require(try ServiceNotifier(environment: ["NOTIFY_SOCKET": name]))
    try notifier.notify(.ready, .status("3 jobs"))
    #expect(try socket.next() == ["READY=1", "STATUS=3 jobs"])
    try notifier.notify(.watchdog)
    #expect(try socket.next() == ["WATCHDOG=1"])
    try notifier.notify(.stopping)
    #expect(try socket.next() == ["STOPPING=1"])
    try notifier.notify(.extendTimeout(.milliseconds(1_500)))
    #expect(try socket.next() == ["EXTEND_TIMEOUT_USEC=1500000"])

    let before = ContinuousClock.now
    try notifier.notify(.reloading)
    let reloading = try socket.next()
    #expect(reloading.count == 2 && reloading[0] == "RELOADING=1")
    let time = try #require(reloading.last?.split(separator: "=").last.flatMap { Int64($0) })
    var now = timespec()
    clock_gettime(CLOCK_MONOTONIC, &now)
    let elapsed = before.duration(to: .now) + .milliseconds(1)
    let latest = Int64(now.tv_sec) * 1_000_000 + Int64(now.tv_nsec) / 1_000
    #expect(time <= latest && latest - time <= Int64(elapsed / .microseconds(1)) + 1)
  }

  @Test func aStatusStaysOneLineOfBoundedLength() throws {
    let name = "@mooring-test-\(UUID().uuidString)"
    let socket = try NotifySocket(name)
    let notifier = try #require(try ServiceNotifier(environment: ["NOTIFY_SOCKET": name]))
    try notifier.notify(.status("a\nREADY=1\r\u{1B}[31m\u{85}é"))
    #expect(try socket.next() == ["STATUS=a READY=1  [31m é"])
    try notifier.notify(.status(String(repeating: "é", count: 10_000)))
    let lines = try socket.next()
    #expect(lines.count == 1 && lines[0].utf8.count < 520 && lines[0].hasSuffix("é…"))
  }

  @Test func withoutASocketThereIsNoNotifier() throws {
    #expect(try ServiceNotifier(environment: [:]) == nil)
    #expect(try ServiceNotifier(environment: ["NOTIFY_SOCKET": ""]) == nil)
  }

  @Test(arguments: [
    "relative", "@", "/", "vsock:2:1", "/" + String(repeating: "a", count: 108),
    "@" + String(repeating: "a", count: 108),
  ])
  func anInvalidSocketPathIsAnError(_ name: String) {
    #expect(throws: NotificationError.self) {
      try ServiceNotifier(environment: ["NOTIFY_SOCKET": name])
    }
  }

  @Test func aSocketWithoutAReaderIsAnErrorOfTheCall() throws {
    try withTemporaryFolder { folder in
      let environment = ["NOTIFY_SOCKET": folder.path("notify")]
      let notifier = try #require(try ServiceNotifier(environment: environment))
      #expect(throws: NotificationError.self) { try notifier.notify(.ready) }
      // And no other one: it works when somebody is there.
      let socket = try NotifySocket(folder.path("notify"))
      try notifier.notify(.ready)
      #expect(try socket.next() == ["READY=1"])
    }
  }

  @Test func theDescriptorLimitIsRaisedToTheHardOne() {
    let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    var limit = rlimit()
    getrlimit(resource, &limit)
    let hard = limit.rlim_max
    limit.rlim_cur = hard - 1
    setrlimit(resource, &limit)
    #expect(raiseDescriptorLimit() == UInt64(hard))
    getrlimit(resource, &limit)
    #expect(limit.rlim_cur == hard && limit.rlim_max == hard)
  }
}
