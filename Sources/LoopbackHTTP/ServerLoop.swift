import Foundation

/// The threads of a server. They hold this object and not the ``LoopbackServer``, so that a
/// server that nobody holds any more stops them.
// SAFETY (@unchecked Sendable): all variables are used under `condition` only.
final class ServerLoop: @unchecked Sendable {
  private let listener: Listener
  private let handler: LoopbackServer.Handler
  private let condition = NSCondition()
  private var isStopping = false
  private var isAccepting = true
  /// The connections that are served, by their threads.
  private var services: [ObjectIdentifier: Channel] = [:]
  private var log = RequestLog()

  init(listener: Listener, handler: @escaping LoopbackServer.Handler) {
    self.listener = listener
    self.handler = handler
  }

  var requests: [Request] { condition.withLock { log.requests } }

  func start() {
    Thread { self.acceptConnections() }.start()
  }

  func stop() {
    condition.withLock {
      isStopping = true
      condition.broadcast()
      listener.shutDown()
      services.values.forEach { $0.shutDown() }
      let own = ObjectIdentifier(Thread.current)
      while isAccepting || services.keys.contains(where: { $0 != own }) { condition.wait() }
    }
  }

  // MARK: The accepting thread

  private func acceptConnections() {
    var number = 1
    while waitForFreeThread(), let channel = acceptConnection(number: number) {
      startService(of: channel)
      number += 1
    }
    condition.withLock {
      isAccepting = false
      condition.broadcast()
    }
  }

  /// Waits until one more connection may be served; false when the server stops.
  private func waitForFreeThread() -> Bool {
    condition.withLock {
      while !isStopping, services.count >= LoopbackServer.Limits.connections { condition.wait() }
      return !isStopping
    }
  }

  private func acceptConnection(number: Int) -> Channel? {
    do {
      return try listener.accept(number: number)
    } catch {
      // No caller is left to throw to, and without descriptors there is nothing to accept.
      FileHandle.standardError.write(Data("loopback server stops accepting: \(error)\n".utf8))
      return nil
    }
  }

  private func startService(of channel: Channel) {
    let thread = Thread { self.serve(channel) }
    thread.stackSize = LoopbackServer.Limits.stackBytes
    condition.withLock {
      services[ObjectIdentifier(thread)] = channel
      if isStopping { channel.shutDown() }
    }
    thread.start()
  }

  // MARK: A connection's thread

  private func serve(_ channel: Channel) {
    var reader = RequestReader(channel: channel)
    do {
      while let request = try reader.next() {
        condition.withLock { log.append(request) }
        guard answer(request, over: channel) else { break }
      }
    } catch let error as LoopbackError where error.code != .connectionClosed {
      refuse(error, over: channel)
    } catch {
      // The client has gone; there is nobody to tell.
    }
    channel.shutDown()
    condition.withLock {
      services[ObjectIdentifier(Thread.current)] = nil
      condition.broadcast()
    }
  }

  /// Lets the handler answer; true when the connection stays open.
  private func answer(_ request: Request, over channel: Channel) -> Bool {
    let connection = Connection(channel: channel, method: request.method)
    do {
      do {
        try handler(request, connection)
        if !connection.hasSent {
          try connection.send(Response(status: 500, text: "the handler sent nothing\n"))
        }
      } catch  where !connection.hasSent {
        try connection.send(Response(status: 500, text: "the handler failed: \(error)\n"))
      }
    } catch {
      // The client has gone, or the handler failed in the middle of an answer, and a cut answer
      // is the only way left to say so.
      return false
    }
    return request.keepsAlive && connection.staysOpen
  }

  private func refuse(_ error: LoopbackError, over channel: Channel) {
    let connection = Connection(channel: channel, method: "GET")
    do {
      try connection.send(
        Response(
          status: error.code == .requestTooLarge ? 413 : 400, headers: [("Connection", "close")],
          text: "\(error)\n"))
      try channel.shutDownAfterRefusal()
    } catch {
      // The client has gone; there is nobody to tell.
    }
  }
}

/// The last requests, within the limits ``LoopbackServer/Limits`` of number and bytes.
struct RequestLog {
  private var entries: [Request] = []
  /// Where the log begins; what lies before is removed in bulk, so that appending is O(1).
  private var start = 0
  private var byteCount = 0

  var requests: [Request] { Array(entries[start...]) }

  mutating func append(_ request: Request) {
    entries.append(request)
    byteCount += request.byteCount
    while entries.count - start > LoopbackServer.Limits.loggedRequests
      || byteCount > LoopbackServer.Limits.loggedBytes
    {
      byteCount -= entries[start].byteCount
      start += 1
    }
    if start > entries.count / 2 {
      entries.removeFirst(start)
      start = 0
    }
  }
}
