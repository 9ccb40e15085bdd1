import PostgreSQLTestSupport
import Testing

@testable import PostgreSQL

@Suite(.enabled(if: PostgreSQLServer.canRun, "\(PostgreSQLServer.skipReason)"))
struct NotificationTests {
  private func notify(_ channel: String, _ payloads: String...) throws -> Int32 {
    var sender = try PostgreSQLServer.shared().connect()
    for payload in payloads {
      try sender.execute(.notify(channel, payload: payload), until: farDeadline)
    }
    return sender.processID
  }

  private func received(_ wait: NotificationWait) -> [Notification] {
    if case .received(let notifications) = wait { notifications } else { [] }
  }

  /// Waits for a number of notifications, which may come one by one.
  private func payloads(_ count: Int, _ listener: inout Connection) throws -> [String] {
    var payloads: [String] = []
    while payloads.count < count {
      let wait = try listener.waitForNotifications(until: farDeadline)
      try #require(wait != .deadline)
      payloads += received(wait).map(\.payload)
    }
    return payloads
  }

  @Test(arguments: ["mooring", #"Mixed "case"; é"#, String(repeating: "x", count: 63)])
  func aNotificationEndsTheWait(_ channel: String) throws {
    var listener = try PostgreSQLServer.shared().connect()
    try listener.execute(.listen(to: channel), until: farDeadline)
    let sender = Work { try notify(channel, "a 'quoted' payload") }
    let wait = try listener.waitForNotifications(until: farDeadline)
    let expected = Notification(
      channel: channel, payload: "a 'quoted' payload", processID: try sender.wait())
    #expect(wait == .received([expected]))
    try listener.execute(.unlisten(channel), until: farDeadline)
    _ = try notify(channel, "unheard")
    let later = try listener.waitForNotifications(until: .now)
    #expect(later == .deadline)
  }

  @Test func notificationsWaitForTheirReader() throws {
    var listener = try PostgreSQLServer.shared().connect()
    try listener.execute(.listen(to: "early"), until: farDeadline)
    _ = try notify("early", "1", "2", "3")
    #expect(try payloads(3, &listener) == ["1", "2", "3"])
    // These may come together with the answer to a statement.
    _ = try notify("early", "4", "5")
    try listener.execute("SELECT 1", until: farDeadline)
    #expect(try payloads(2, &listener) == ["4", "5"])
  }

  @Test func aNotificationIsSentByTheCommit() throws {
    let server = try PostgreSQLServer.shared()
    var listener = try server.connect()
    var sender = try server.connect()
    try listener.execute(.listen(to: "committed"), until: farDeadline)
    let notification = try Statement.notify("committed", payload: "lost")
    try sender.execute([.begin, notification, .rollback], until: farDeadline)
    try sender.execute(
      [.begin, .notify("committed", payload: "sent")], until: farDeadline)
    let before = try listener.waitForNotifications(until: .now)
    #expect(before == .deadline)
    try sender.execute(.commit, until: farDeadline)
    let after = received(try listener.waitForNotifications(until: farDeadline))
    #expect(after.map(\.payload) == ["sent"])
  }

  @Test func anotherThreadEndsTheWait() throws {
    var listener = try PostgreSQLServer.shared().connect()
    try listener.execute(.listen(to: "silent"), until: farDeadline)
    let wakeup = try Wakeup()
    let other = Work { wakeup.wakeUp() }
    let first = try listener.waitForNotifications(until: farDeadline, wakeup: wakeup)
    #expect(first == .wokenUp)
    try other.wait()
    // Two before the wait are one, and none is left.
    wakeup.wakeUp()
    wakeup.wakeUp()
    let second = try listener.waitForNotifications(until: farDeadline, wakeup: wakeup)
    #expect(second == .wokenUp)
    let third = try listener.waitForNotifications(until: .now, wakeup: wakeup)
    #expect(third == .deadline)
  }

  @Test func aServerThatGoesEndsTheWaitWithItsReason() throws {
    let server = try PostgreSQLServer.shared()
    var listener = try server.connect()
    try listener.execute(.listen(to: "going"), until: farDeadline)
    let process = listener.processID
    let other = Work { try server.terminate(process) }
    let error = try failure { _ = try listener.waitForNotifications(until: farDeadline) }
    try other.wait()
    #expect(error.code == .connectionLost)
    #expect(error.sqlState == .adminShutdown)
    #expect(listener.isOpen == false)
  }

  @Test func aCutConnectionEndsTheWait() throws {
    let server = try PostgreSQLServer.shared()
    let proxy = try CuttingProxy(server)
    defer { proxy.stop() }
    var listener = try Connection(ConnectionString(proxy.connectionText), until: farDeadline)
    try listener.execute(.listen(to: "cut"), until: farDeadline)
    proxy.cutAtNextAnswer()
    _ = try notify("cut", "")
    let error = try failure { _ = try listener.waitForNotifications(until: farDeadline) }
    #expect(error.code == .connectionLost)
    #expect(error.sqlState == nil)
  }

  @Test func namesAndPayloadsAreBounded() throws {
    for channel in ["", String(repeating: "é", count: 32), "a\0b"] {
      #expect(try failure { _ = try Statement.listen(to: channel) }.code == .usage)
      #expect(try failure { _ = try Statement.notify(channel) }.code == .usage)
    }
    let longest = String(repeating: "x", count: 7_999)
    var listener = try PostgreSQLServer.shared().connect()
    try listener.execute(.listen(to: "long"), until: farDeadline)
    _ = try notify("long", longest)
    let seen = received(try listener.waitForNotifications(until: farDeadline))
    #expect(seen.map(\.payload) == [longest])
    let error = try failure { _ = try Statement.notify("long", payload: longest + "x") }
    #expect(error.code == .tooLarge)
  }
}
