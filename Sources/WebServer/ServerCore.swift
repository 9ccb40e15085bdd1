import CMooringMicroHTTPD
import Dispatch
import Glibc
import SystemSupport

/// The state that the connections of a server share.
final class ServerCore: Sendable {
  let library: LibMicroHTTPD
  let limits: WebServer.Limits
  /// Decides on the access and calls the handler. May block.
  let respond: @Sendable (WebRequest) -> WebResponse

  private struct State {
    var connections: [ObjectIdentifier: WebConnection] = [:]
    var isStopping = false
  }

  private let state = Locked(State())
  private let threads: BoundedThreads
  private let responding = DispatchGroup()

  init(
    _ library: LibMicroHTTPD, _ limits: WebServer.Limits,
    respond: @escaping @Sendable (WebRequest) -> WebResponse
  ) {
    self.library = library
    self.limits = limits
    self.respond = respond
    threads = BoundedThreads("mooring.web", threadsMax: limits.handlers)
  }

  // MARK: Connections

  func add(_ connection: WebConnection) {
    state.withLock { $0.connections[ObjectIdentifier(connection)] = connection }
  }

  func remove(_ connection: WebConnection) {
    state.withLock { $0.connections[ObjectIdentifier(connection)] = nil }
  }

  var connections: [WebConnection] { state.withLock { Array($0.connections.values) } }

  // MARK: Responding

  /// Announces a job for ``run(_:)``; false if the server is stopping.
  func reserve() -> Bool {
    state.withLock { state in
      guard !state.isStopping else { return false }
      responding.enter()
      return true
    }
  }

  /// Runs a job that was announced on one of the threads of the handlers.
  func run(_ job: @escaping @Sendable () -> Void) {
    threads.submit {
      job()
      self.responding.leave()
    }
  }

  var isStopping: Bool { state.withLock { $0.isStopping } }

  /// Lets no further job and no further wait for events begin, and waits for the jobs that run.
  /// Afterwards no connection is suspended.
  func finishResponding() {
    state.withLock { $0.isStopping = true }
    responding.wait()
    for connection in connections { connection.endEvents() }
  }
}
