/// Why the server could not listen, or a handler could not send.
public struct LoopbackError: Error, Sendable, CustomStringConvertible {
  public enum Code: String, Sendable {
    /// The port is taken or not permitted, or the process has no descriptors left.
    case cannotListen
    /// The client or ``LoopbackServer/stop()`` ended the connection.
    case connectionClosed
    /// The system refused a call that should not fail.
    case system
    /// The client sent no well-formed request.
    case badRequest
    /// The client sent more than ``LoopbackServer/Limits`` allow.
    case requestTooLarge
  }

  public let code: Code
  /// The failure, the same for every error of this code.
  public var summary: String {
    switch code {
    case .cannotListen: "cannot listen on 127.0.0.1"
    case .connectionClosed: "the connection is closed"
    case .system: "a system call failed"
    case .badRequest: "the request is malformed"
    case .requestTooLarge: "the request is too large"
    }
  }
  /// The details: the port, the system's message, the offending line.
  public let context: String
  /// The advice.
  public var advice: String {
    switch code {
    case .cannotListen: "use port 0, or stop what holds the port"
    case .connectionClosed: "return from the handler"
    case .system: "look at the limits of the process (ulimit -a)"
    case .badRequest: "correct the client"
    case .requestTooLarge: "send less, or raise LoopbackServer.Limits"
    }
  }

  public var description: String { "\(summary): \(context) (\(advice))" }
}
