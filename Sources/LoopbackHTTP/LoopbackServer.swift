/// A small HTTP/1.1 server on 127.0.0.1 for tests and the `feed-server` tool.
///
/// It hands every request to one handler and sends exactly the bytes of the handler, even
/// if they are not HTTP, so that a client can be tested against a server that misbehaves.
/// It speaks no TLS and listens on no other address.
///
/// Threads: one accepts, and one serves each connection, at most ``Limits/connections`` of them.
/// The handler runs on the connection's thread and may block. Requests of one connection are
/// handled in turn; those of different connections at the same time.
///
/// A handler that keeps a strong reference to the server keeps it alive until ``stop()``.
public final class LoopbackServer: Sendable {
  /// Sends the answer to one request. An error thrown before anything was sent becomes a 500 with
  /// the error's text; thrown later, it ends the connection.
  public typealias Handler = @Sendable (Request, Connection) throws -> Void

  /// The port that the server listens on; never 0.
  public let port: UInt16

  private let loop: ServerLoop

  /// Listens on 127.0.0.1 and starts to serve.
  ///
  /// - Parameter port: 0 takes any free port.
  /// - Throws: ``LoopbackError`` with `.cannotListen` when the port is taken or not permitted.
  public init(port: UInt16 = 0, handler: @escaping Handler) throws {
    let listener = try Listener(port: port)
    self.port = listener.port
    loop = ServerLoop(listener: listener, handler: handler)
    loop.start()
  }

  deinit {
    loop.stop()
  }

  /// The server's origin, `http://127.0.0.1:PORT`, without a slash at the end.
  public var url: String { "http://127.0.0.1:\(port)" }

  /// The requests read so far, oldest first. A request is listed before its handler runs. Old
  /// ones go when there are more than ``Limits/loggedRequests`` or ``Limits/loggedBytes``.
  public var requests: [Request] { loop.requests }

  /// Closes the listener and all connections and waits until every thread has ended. Handlers
  /// that wait in ``Connection/stall(until:)`` or ``Connection/waitForClose()`` return; one that
  /// waits for anything else is waited for. Called from a handler, it does not wait for the
  /// handler's own thread. Further calls do nothing.
  public func stop() {
    loop.stop()
  }
}
