import Foundation
import PostgreSQLTestSupport
import TestSupport
import Testing

@testable import PostgreSQL

@Suite(.enabled(if: PostgreSQLServer.canRun, "\(PostgreSQLServer.skipReason)"))
struct ConnectionLossTests {
  @Test func aSessionEndedBetweenCallsIsNoticedBeforeSending() throws {
    let server = try PostgreSQLServer.shared()
    for steps in [[Statement.begin], [.begin, "SELECT 1"], ["SELECT 1"]] {
      var connection = try server.connect()
      try connection.execute(steps, until: farDeadline)
      try server.terminate(connection.processID)
      let error = try failure { try connection.execute(.commit, until: farDeadline) }
      #expect(error.code == .connectionLost)
      #expect(error.sqlState == .adminShutdown)
      #expect(error.isOutcomeKnown)
      #expect(connection.isOpen == false)
      let state = connection.transactionState
      #expect(state == .closed)
    }
  }

  @Test func aSessionEndedDuringAStatementLeavesItsOutcomeUnknown() throws {
    let server = try PostgreSQLServer.shared()
    var connection = try server.connect()
    let process = connection.processID
    let other = Work {
      try server.waitForSessions(1, where: "pid = \(process) AND wait_event = 'PgSleep'")
      try server.terminate(process)
    }
    let error = try failure { try connection.execute("SELECT pg_sleep(60)", until: farDeadline) }
    try other.wait()
    #expect(error.code == .connectionLost)
    #expect(error.sqlState == .adminShutdown)
    #expect(!error.isOutcomeKnown)
  }

  @Test func theOutcomeOfACommitWithoutAnswerIsUnknown() throws {
    let server = try PostgreSQLServer.shared()
    var direct = try server.connect()
    try direct.execute("CREATE TABLE unanswered (n int8)", until: farDeadline)
    let proxy = try CuttingProxy(server)
    defer { proxy.stop() }
    var connection = try Connection(ConnectionString(proxy.connectionText), until: farDeadline)
    try connection.execute(
      [.begin, "INSERT INTO unanswered VALUES (1)"], until: farDeadline)
    proxy.cutAtNextAnswer()
    let error = try failure { try connection.execute(.commit, until: farDeadline) }
    #expect(error.code == .connectionLost)
    #expect(!error.isOutcomeKnown)
    #expect(error.advice.hasPrefix("connect again, and look whether"))
    #expect(try direct.integers("SELECT n FROM unanswered") == [1])
  }

  /// Cuts the connection after each number of bytes, in both directions. What is reported must be
  /// what the table has.
  @Test func aConnectionCutAnywhereReportsTheTruth() throws {
    let server = try PostgreSQLServer.shared()
    var direct = try server.connect()
    try direct.execute("CREATE TABLE cut (n int8)", until: farDeadline)
    let whole = try CuttingProxy(server)
    #expect(try commit(-1, whole) == nil)
    whole.stop()
    let step = ProcessInfo.processInfo.environment["MOORING_THOROUGH"] == nil ? 7 : 1
    let cuts =
      stride(from: 0, to: whole.clientBytes.count, by: step)
      .map { CuttingProxy.Cut.fromClient(after: $0) }
      + stride(from: 0, to: whole.serverCount, by: step)
      .map { CuttingProxy.Cut.fromServer(after: $0) }
    var outcomes: [String: Int] = [:]
    for (number, cut) in cuts.enumerated() {
      let proxy = try CuttingProxy(server, cut)
      let error = try commit(number, proxy)
      proxy.stop()
      try server.waitForSessions(0, where: "application_name = 'cut \(number)'")
      let isThere =
        try direct.integers(Statement("SELECT n FROM cut WHERE n = $1", .int8(Int64(number)))) != []
      switch error?.isOutcomeKnown {
      case nil: #expect(isThere, "\(cut) was acknowledged")
      case true?: #expect(!isThere, "\(cut): \(error!)")
      case false?: break
      }
      let outcome = error.map { $0.isOutcomeKnown ? "known" : "unknown" } ?? "acknowledged"
      outcomes["\(outcome), \(isThere ? "there" : "missing")", default: 0] += 1
    }
    // The cuts reach all kinds of outcomes: acknowledged ones by a cut after the last answer only.
    #expect(outcomes["known, missing", default: 0] > 0)
    #expect(outcomes["unknown, missing", default: 0] > 0)
    #expect(outcomes["unknown, there", default: 0] > 0)
  }

  /// - Returns: The error of the call that has failed; nil after the acknowledgment of the commit.
  private func commit(_ number: Int, _ proxy: CuttingProxy) throws -> PostgreSQLError? {
    do {
      var connection = try Connection(
        ConnectionString("\(proxy.connectionText) application_name='cut \(number)'"),
        until: farDeadline)
      try connection.execute(.begin, until: farDeadline)
      try connection.execute(
        [Statement("INSERT INTO cut VALUES ($1)", .int8(Int64(number))), .commit],
        until: farDeadline
      )
      return nil
    } catch let error as PostgreSQLError {
      #expect([.connect, .connectionLost].contains(error.code), "\(error)")
      return error
    }
  }
}
