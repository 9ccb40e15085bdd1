import SystemSupport

/// A source of server-sent events (WHATWG HTML, 9.2) for any number of clients.
///
/// A client that reads slowly skips events: it gets the newest one of each name.
package final class EventChannel: Sendable {
  private let subscribers = Locked<[ObjectIdentifier: EventSubscriber]>([:])

  package init() {}

  /// Sends an event to all clients of now. Never waits for one. Any thread may call it.
  ///
  /// - Parameters:
  ///   - event: The name. The number of different names bounds what is kept for a client.
  ///   - data: Any text. All kinds of line breaks arrive as `\n`.
  package func publish(_ event: String, _ data: String) {
    let bytes = Self.encoded(event, data)
    for subscriber in subscribers.withLock({ Array($0.values) }) {
      subscriber.offer(event, bytes)
    }
  }

  package var subscriberCount: Int { subscribers.withLock { $0.count } }

  func add(_ subscriber: EventSubscriber) {
    subscribers.withLock { $0[ObjectIdentifier(subscriber)] = subscriber }
  }

  func remove(_ subscriber: EventSubscriber) {
    subscribers.withLock { $0[ObjectIdentifier(subscriber)] = nil }
  }

  private static func encoded(_ event: String, _ data: String) -> [UInt8] {
    let lines = data.split(omittingEmptySubsequences: false) {
      $0 == "\n" || $0 == "\r" || $0 == "\r\n"
    }
    let name = event.filter { !$0.isNewline }
    return Array("event: \(name)\n\(lines.map { "data: \($0)\n" }.joined())\n".utf8)
  }
}

/// The events that one client has not got yet: the newest of each name, and the rest of the one
/// that is being sent.
final class EventSubscriber: Sendable {
  private struct State {
    var unsent: [(name: String, bytes: [UInt8])] = []
    var current: ArraySlice<UInt8>
    var isWaiting = false
    var hasEnded = false
  }

  private let state: Locked<State>
  private let wake: @Sendable () -> Void

  /// - Parameter wake: Called with a lock held when there is something to read after a wait.
  init(wake: @escaping @Sendable () -> Void) {
    self.wake = wake
    // The pause after which a browser connects again.
    state = Locked(State(current: Array("retry: 2000\n\n".utf8)[...]))
  }

  /// Replaces the unsent event of this name, if there is one.
  func offer(_ name: String, _ bytes: [UInt8]) {
    change { state in
      if let index = state.unsent.firstIndex(where: { $0.name == name }) {
        state.unsent[index].bytes = bytes
      } else {
        state.unsent.append((name, bytes))
      }
    }
  }

  /// Sends a comment, which clients ignore, if nothing else is to be sent. A client that has gone
  /// is noticed when something is sent to it.
  func offerHeartbeat() {
    change { if $0.unsent.isEmpty, $0.isWaiting { $0.unsent.append(("", Array(":\n\n".utf8))) } }
  }

  /// Ends the stream; `wake` is not called afterwards.
  func end() { change { $0.hasEnded = true } }

  private func change(_ body: (inout State) -> Void) {
    state.withLock { state in
      body(&state)
      guard state.isWaiting, state.hasEnded || !state.unsent.isEmpty else { return }
      state.isWaiting = false
      wake()
    }
  }

  enum Next: Equatable { case bytes(Int), wait, end }

  /// Copies the next bytes into the buffer.
  ///
  /// - Parameter wait: Called with a lock held, so that no `wake` precedes it, before `.wait` is
  ///   returned.
  func read(into buffer: UnsafeMutableRawBufferPointer, wait: () -> Void) -> Next {
    state.withLock { state in
      guard !state.hasEnded else { return .end }
      if state.current.isEmpty, !state.unsent.isEmpty {
        state.current = state.unsent.removeFirst().bytes[...]
      }
      guard !state.current.isEmpty else {
        state.isWaiting = true
        wait()
        return .wait
      }
      let part = state.current.prefix(buffer.count)
      buffer.copyBytes(from: part)
      state.current.removeFirst(part.count)
      return .bytes(part.count)
    }
  }
}
