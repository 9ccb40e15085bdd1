import CMooringMicroHTTPD
import Dispatch
import Glibc
import SystemSupport

/// An HTTP/1.1 server for the pages of one user, on a unix socket or on TCP, without TLS.
///
/// Threads: one of libmicrohttpd serves all connections, and up to `Limits.handlers` run handlers.
/// A connection whose handler runs, or that waits for events, takes no thread.
package final class WebServer: Sendable {
  package struct Configuration: Sendable {
    package var address: WebAddress
    package var access: Access
    package var limits = Limits()

    package init(_ address: WebAddress, _ access: Access, limits: Limits = Limits()) {
      self.address = address
      self.access = access
      self.limits = limits
    }
  }

  package struct Limits: Sendable {
    /// The bytes of a request line with its headers; a longer one is refused with status 431.
    package var headBytes = 16 << 10
    /// The bytes of a form; a longer one is refused with status 413.
    package var bodyBytes = 64 << 10
    /// The connections, also those with one client. Further ones wait in the queue of the system.
    package var connections: UInt32 = 256
    /// The handlers that run at once.
    package var handlers = 4
    /// The time from a connection, or from a request line, to the end of the request.
    package var requestTimeout = Duration.seconds(10)
    /// The time after which a connection without a request, or one whose client does not read its
    /// response, is closed. For the latter whole seconds, rounded up.
    package var idleTimeout = Duration.seconds(60)
    /// The time after which a stream without events gets a comment, by which the server notices
    /// that a client has gone.
    package var heartbeat = Duration.seconds(15)

    package init() {}
  }

  /// The address at which the server listens; the port is not 0.
  package let address: WebAddress

  private let core: ServerCore
  private let listener: Listener
  private let timers: Timers
  // SAFETY: the lock protects the pointer, which is only given to libmicrohttpd.
  nonisolated(unsafe) private var daemon: OpaquePointer?
  private let stopping = ThreadLock()

  /// Listens and begins to serve.
  ///
  /// - Parameter handler: Called for each request that ``Access`` allows, on several threads. It
  ///   may block; ``stop()`` waits for it.
  package init(
    _ configuration: Configuration, handler: @escaping @Sendable (WebRequest) -> WebResponse
  ) throws(WebServerError) {
    let limits = configuration.limits
    let library = try LibMicroHTTPD.loaded()
    let listener = try Listener(configuration.address)
    let (access, address) = (configuration.access, listener.address)
    let core = ServerCore(library, limits) { request in
      switch access.decide(request, at: address) {
      case .allowed: handler(request)
      case .redirected(let target, let cookie):
        WebResponse(
          status: 303, line: target, headers: [("Location", target), ("Set-Cookie", cookie)])
      case .refused(let refusal): WebResponse(refusal)
      }
    }
    let daemon = mooring_microhttpd_start(
      library.call, listener.descriptor, limits.connections, Self.connectionBytes(limits),
      UInt32(max(1, (limits.idleTimeout / .seconds(1)).rounded(.up))),
      RequestReader.callbacks(core))
    guard let daemon else {
      // The descriptor is not closed: libmicrohttpd closes it in some of these cases.
      let error = SystemError()
      listener.file?.remove()
      throw WebServerError(.system, "\(address): \(error.text)")
    }
    self.core = core
    self.listener = listener
    self.address = address
    self.daemon = daemon
    timers = Timers(core)
  }

  deinit { stop() }

  /// Twice the size of a head, so that a head that is too large can be refused in the server's own
  /// words; libmicrohttpd's own refusal follows if this is used up.
  private static func connectionBytes(_ limits: Limits) -> Int { 2 * limits.headBytes }

  /// Refuses new connections, waits for the handlers that run, ends all connections, and removes
  /// the socket from the file system. No thread of the server is left then. Not for handlers.
  /// Further calls do nothing.
  package func stop() {
    stopping.lock()
    defer { stopping.unlock() }
    guard let daemon else { return }
    self.daemon = nil
    let call = core.library.call.pointee
    // First, so that no other server finds a socket that refuses connections.
    listener.file?.remove()
    // SAFETY: the daemon runs, and is stopped here once. No connection is suspended by then.
    let descriptor = call.MHD_quiesce_daemon(daemon)
    timers.stop()
    core.finishResponding()
    call.MHD_stop_daemon(daemon)
    if descriptor >= 0 { close(descriptor) }
  }
}

/// The timers of a server.
private final class Timers: Sendable {
  private let queue = DispatchQueue(label: "mooring.web.timers")
  // SAFETY: any thread may use a dispatch source; its type is not marked `Sendable`.
  nonisolated(unsafe) private let sources: [any DispatchSourceTimer]

  init(_ core: ServerCore) {
    let limits = core.limits
    let check = min(.seconds(1), min(limits.requestTimeout, limits.idleTimeout) / 4)
    sources = [
      Self.timer(queue, every: check) {
        let now = ContinuousClock.now
        for connection in core.connections { connection.endIfLate(at: now) }
      },
      Self.timer(queue, every: limits.heartbeat) {
        for connection in core.connections { connection.offerHeartbeat() }
      },
    ]
  }

  private static func timer(
    _ queue: DispatchQueue, every interval: Duration, _ body: @escaping @Sendable () -> Void
  ) -> any DispatchSourceTimer {
    let source = DispatchSource.makeTimerSource(queue: queue)
    let nanoseconds = DispatchTimeInterval.nanoseconds(Int(interval / .nanoseconds(1)))
    source.schedule(deadline: .now() + nanoseconds, repeating: nanoseconds)
    source.setEventHandler(handler: body)
    source.resume()
    return source
  }

  /// Returns when no timer runs.
  func stop() {
    for source in sources { source.cancel() }
    queue.sync {}
  }
}
