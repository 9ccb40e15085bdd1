import Foundation
import Glibc
import LoopbackHTTP
import SystemSupport
import TestSupport

/// A server that kills its client at a certain request.
final class KillingServer: Sendable {
  /// When a process dies.
  struct Plan: Sendable {
    /// The request that it dies at, from 1 on.
    var request = Int.max
    /// True if the process gets its response before it is killed.
    var wantsAnswer = false
    /// The microseconds before the kill.
    var delay: UInt32 = 0
  }

  private struct State {
    var plan = Plan()
    var pid: Int32 = 0
    var requests: [Request] = []
  }

  private let server: LoopbackServer
  private let state: SharedState
  var url: String { server.url }

  private final class SharedState: Sendable {
    let value = Locked(State())

    /// Which process is to die at this request, and how.
    func note(_ request: Request) -> (pid: Int32, plan: Plan)? {
      value.withLock { state in
        state.requests.append(request)
        state.plan.request -= 1
        return state.plan.request == 0 ? (state.pid, state.plan) : nil
      }
    }
  }

  init(_ answer: @escaping @Sendable (Request) -> Response) throws {
    let state = SharedState()
    self.state = state
    server = try LoopbackServer { request, connection in
      let due = state.note(request)
      if let due, !due.plan.wantsAnswer { kill(due) }
      try connection.send(answer(request))
      if let due, due.plan.wantsAnswer { kill(due) }
    }
  }

  /// Syncs a feed in a separate process, which dies as planned.
  ///
  /// - Returns: Its output at the end; nil if it was killed.
  func sync(_ url: String, in folder: String, _ plan: Plan = Plan()) async throws -> String? {
    state.value.withLock { $0.plan = Plan() }
    let end = try await onThread { [state] in
      let child = try ChildProcess(
        childExecutable(named: "store-child"), ["sync-feed", folder, url])
      state.value.withLock { ($0.plan, $0.pid) = (plan, child.pid) }
      let line = child.readLine()
      return (line: line, exit: child.waitForExit(), errors: child.readErrors())
    }
    guard end.line != nil || end.exit.wasSignal else {
      throw ChildFailure(description: end.errors)
    }
    return end.line
  }

  struct ChildFailure: Error, CustomStringConvertible {
    let description: String
  }

  /// The requests since the last call, oldest first.
  func takeRequests() -> [Request] {
    state.value.withLock { state in
      defer { state.requests = [] }
      return state.requests
    }
  }

  func stop() { server.stop() }
}

private func kill(_ due: (pid: Int32, plan: KillingServer.Plan)) {
  // Not a wait: the moment of the kill is drawn.
  usleep(due.plan.delay)
  Glibc.kill(due.pid, SIGKILL)
}

/// Runs a blocking closure on a separate thread, since the tests share few.
private func onThread<R: Sendable>(
  _ body: @escaping @Sendable () throws -> R
) async throws -> R {
  try await withCheckedThrowingContinuation { continuation in
    Thread.detachNewThread { continuation.resume(with: Result(catching: body)) }
  }
}
