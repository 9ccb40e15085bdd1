import CMooringMicroHTTPD
import Glibc
import SystemSupport

/// One connection, and the request that it is at.
///
/// libmicrohttpd's thread moves it from phase to phase. While the handler runs on another thread,
/// and while a client waits for events, the connection is suspended: it takes no thread.
// @unchecked: `handle` and `socket` are used only until `close`, under the lock or suspended.
final class WebConnection: @unchecked Sendable {
  enum Phase {
    /// The request line has not arrived.
    case idle
    case head(target: String)
    case body(RequestHead)
    case responding(isHead: Bool)
    /// Nil closes the connection.
    case answered(WebResponse?, isHead: Bool)
    case sending
  }

  private struct State {
    var phase = Phase.idle
    var body: [UInt8] = []
    var events: EventSubscriber?
    /// The time at which the request must be complete.
    var deadline: ContinuousClock.Instant
    var isClosed = false
  }

  private let core: ServerCore
  private let handle: OpaquePointer
  private let socket: Int32
  private let state: Locked<State>

  init(_ handle: OpaquePointer, _ core: ServerCore) {
    self.core = core
    self.handle = handle
    socket = mooring_microhttpd_socket(core.library.call, handle)
    state = Locked(State(deadline: .now + core.limits.requestTimeout))
  }

  // MARK: Calls of libmicrohttpd's thread

  func begin(target: String) {
    state.withLock {
      $0.phase = .head(target: target)
      $0.deadline = .now + core.limits.requestTimeout
    }
  }

  /// Takes the next part of a request: the head, then the parts of the body, then an empty part.
  ///
  /// - Returns: False to close the connection.
  func proceed(method: String, part: UnsafeRawBufferPointer) -> Bool {
    switch state.withLock({ $0.phase }) {
    case .head(let target):
      do throws(Refusal) {
        let head = try RequestHead(
          method: method, target: target, headers: RequestReader.headers(of: handle, core.library),
          headBytes: mooring_microhttpd_head_bytes(core.library.call, handle), limits: core.limits)
        state.withLock { $0.phase = .body(head) }
        return true
      } catch {
        return send(WebResponse(error), isHead: method == "HEAD")
      }
    case .body where !part.isEmpty:
      return state.withLock {
        $0.body += part
        return $0.body.count <= core.limits.bodyBytes
      }
    case .body(let head): return respond(to: head)
    case .answered(let response, let isHead):
      return response.map { send($0, isHead: isHead) } ?? false
    case .idle, .responding, .sending: return false
    }
  }

  private func respond(to head: RequestHead) -> Bool {
    guard core.reserve() else { return false }
    let isHead = head.method == "HEAD"
    let body = state.withLock { state in
      state.phase = .responding(isHead: isHead)
      defer { state.body = [] }
      return state.body
    }
    // SAFETY: this is libmicrohttpd's callback for requests, in which a connection may be
    // suspended; the job, which resumes it, cannot begin before.
    core.library.call.pointee.MHD_suspend_connection(handle)
    core.run { [self] in
      var response: WebResponse?
      if !core.isStopping {
        do throws(Refusal) {
          response = core.respond(try head.request(body: body))
        } catch {
          response = WebResponse(error)
        }
      }
      state.withLock { $0.phase = .answered(response, isHead: isHead) }
      // SAFETY: a suspended connection lives until it is resumed.
      core.library.call.pointee.MHD_resume_connection(handle)
    }
    return true
  }

  private func send(_ response: WebResponse, isHead: Bool) -> Bool {
    state.withLock { $0.phase = .sending }
    let response = response.complete
    if OutgoingResponse.queue(response, body(of: response, isHead), handle, core.library) {
      return true
    }
    // libmicrohttpd has refused one of the headers, such as a Content-Length.
    let failure = WebResponse(status: 500, line: "the answer cannot be sent").complete
    return OutgoingResponse.queue(failure, body(of: failure, isHead), handle, core.library)
  }

  private func body(of response: WebResponse, _ isHead: Bool) -> OutgoingResponse.Body {
    switch response.body {
    case .bytes(let bytes): return .bytes(bytes)
    case .events where isHead: return .bytes([])
    case .events(let channel):
      let stream = EventStream(channel, handle, core.library)
      state.withLock { $0.events = stream.subscriber }
      if core.isStopping { stream.subscriber.end() }
      return .events(stream)
    }
  }

  /// Called when the response is sent, or the request has failed.
  func complete() {
    state.withLock {
      $0.phase = .idle
      $0.body = []
      $0.events = nil
      $0.deadline = .now + core.limits.idleTimeout
    }
  }

  /// Called before libmicrohttpd closes the socket.
  func close() { state.withLock { $0.isClosed = true } }

  // MARK: Calls of other threads

  /// Ends a connection whose request is not complete in time, however slowly it comes.
  func endIfLate(at now: ContinuousClock.Instant) {
    state.withLock { state in
      guard !state.isClosed, now >= state.deadline else { return }
      switch state.phase {
      // The socket is open, since `close` would have been called. libmicrohttpd sees its end.
      case .idle, .head, .body: shutdown(socket, Int32(SHUT_RDWR))
      case .responding, .answered, .sending: break
      }
    }
  }

  func offerHeartbeat() { state.withLock { $0.events }?.offerHeartbeat() }

  func endEvents() { state.withLock { $0.events }?.end() }
}
