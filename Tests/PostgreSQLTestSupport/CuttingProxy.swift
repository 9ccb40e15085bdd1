import Foundation
import Glibc
import SystemSupport
import TestSupport

/// A network between client and server that breaks when a test wants it: it listens at a port of
/// this machine, forwards all bytes to the server's socket, and closes both connections at a cut.
package final class CuttingProxy: Sendable {
  /// The number of bytes of one direction that pass before both connections are closed.
  package enum Cut: Sendable {
    case never
    case fromClient(after: Int)
    case fromServer(after: Int)
  }

  /// The direction in which bytes pass.
  package enum Direction: Sendable, CaseIterable { case fromClient, fromServer }

  package let port: UInt16
  private let listener: Int32
  private let target: String
  private let takesTurns: Bool
  private let state: Locked<State>

  private struct State {
    var cut = Cut.never
    var cutsOnce = false
    var client: [UInt8] = []
    var serverCount = 0
    var cuts = 0
    var waiter: CheckedContinuation<Void, Never>?
    var replacement: (old: [UInt8], new: [UInt8])?
  }

  /// - Parameter takesTurns: True to serve one connection after another.
  package init(
    _ server: PostgreSQLServer, _ cut: Cut = .never, takesTurns: Bool = false
  ) throws {
    self.takesTurns = takesTurns
    target = server.folder + "/.s.PGSQL.5432"
    (listener, port) = try listeningSocket()
    state = Locked(State(cut: cut))
    Thread.detachNewThread { [self] in acceptConnections() }
  }

  /// Accepts no more connections.
  package func stop() { shutdown(listener, Int32(SHUT_RDWR)) }

  deinit { close(listener) }

  /// The string for a session as superuser through this proxy.
  package var connectionText: String {
    "host=127.0.0.1 port=\(port) user=mooring dbname=postgres sslmode=disable gssencmode=disable"
  }

  /// The bytes that the client has sent, and the number of those of the server.
  package var clientBytes: [UInt8] { state.withLock { $0.client } }
  package var serverCount: Int { state.withLock { $0.serverCount } }

  /// Lets statements pass from now on, and cuts the connection instead of passing an answer.
  ///
  /// - Parameter once: True to let later connections pass.
  package func cutAtNextAnswer(once: Bool = false) {
    state.withLock { state in
      state.cut = .fromServer(after: state.serverCount)
      state.cutsOnce = once
    }
  }

  /// Cuts the connection over which so many more bytes have passed, and no other.
  package func cutOnce(_ direction: Direction, afterMore count: Int) {
    state.withLock { state in
      state.cut =
        switch direction {
        case .fromClient: .fromClient(after: state.client.count + count)
        case .fromServer: .fromServer(after: state.serverCount + count)
        }
      state.cutsOnce = true
    }
  }

  /// The number of connections that were cut.
  package var cuts: Int { state.withLock { $0.cuts } }

  /// Waits for the cut that `cutOnce` has requested.
  package func waitForCut() async {
    await withCheckedContinuation { continuation in
      let isOver = state.withLock { state in
        if case .never = state.cut { return true }
        state.waiter = continuation
        return false
      }
      if isOver { continuation.resume() }
    }
  }

  /// Replaces bytes of the server's answers by as many others, where they come in one piece.
  package func replace(_ old: String, by new: String) {
    state.withLock { $0.replacement = (Array(old.utf8), Array(new.utf8)) }
  }

  private func acceptConnections() {
    while case let client = accept(listener, nil, nil), client >= 0 {
      if takesTurns { serve(client) } else { Thread.detachNewThread { [self] in serve(client) } }
    }
  }

  private func serve(_ client: Int32) {
    if let server = connectToServer() {
      forward(client, server)
      close(server)
    }
    close(client)
  }

  private func connectToServer() -> Int32? {
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: target.utf8) }
    // SAFETY: a sockaddr_un may be passed as a sockaddr of its size.
    let result = withUnsafePointer(to: address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    if result == 0 { return descriptor }
    close(descriptor)
    return nil
  }

  private func forward(_ client: Int32, _ server: Int32) {
    var sources = [
      pollfd(fd: client, events: Int16(POLLIN), revents: 0),
      pollfd(fd: server, events: Int16(POLLIN), revents: 0),
    ]
    while poll(&sources, 2, -1) > 0 {
      if sources[0].revents != 0, !pass(client, server, isClient: true) { return }
      if sources[1].revents != 0, !pass(server, client, isClient: false) { return }
    }
  }

  /// - Returns: False at the end of the connection or at the cut.
  private func pass(_ source: Int32, _ target: Int32, isClient: Bool) -> Bool {
    var bytes = [UInt8](repeating: 0, count: 1 << 16)
    // SAFETY: the array has as many bytes as are read, and none is kept.
    let count = read(source, &bytes, bytes.count)
    guard count > 0 else { return false }
    let room = state.withLock { state in
      let room: Int =
        switch (state.cut, isClient) {
        case (.fromClient(let limit), true): max(0, limit - state.client.count)
        case (.fromServer(let limit), false): max(0, limit - state.serverCount)
        default: .max
        }
      let passed = min(count, room)
      if isClient { state.client += bytes[..<passed] } else { state.serverCount += passed }
      if passed < count {
        state.cuts += 1
        if state.cutsOnce { state.cut = .never }
        state.waiter?.resume()
        state.waiter = nil
      }
      if !isClient, let (old, new) = state.replacement,
        let place = bytes[..<count].firstRange(of: old)
      {
        bytes.replaceSubrange(place, with: new)
      }
      return room
    }
    var sent = 0
    while sent < min(count, room) {
      // SAFETY: the range lies within the array; a broken connection is an error and no signal.
      let written = bytes.withUnsafeBytes {
        send(target, $0.baseAddress! + sent, min(count, room) - sent, Int32(MSG_NOSIGNAL))
      }
      guard written > 0 else { return false }
      sent += written
    }
    return count <= room
  }
}
