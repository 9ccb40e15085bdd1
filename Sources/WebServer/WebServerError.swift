/// The reason why a server does not start.
package struct WebServerError: Error, Sendable, CustomStringConvertible {
  package enum Code: String, Sendable {
    /// libmicrohttpd is not installed.
    case libraryMissing
    /// The address is in use, not permitted, or none of this machine.
    case cannotListen
    /// Another server listens at the path.
    case alreadyServed
    /// The path leads to something that is no socket, and is left as it is.
    case notASocket
    /// The system has no threads or descriptors left.
    case system
  }

  package let code: Code
  /// The address or the path, and the message of the system.
  package let context: String

  init(_ code: Code, _ context: String) {
    self.code = code
    self.context = context
  }

  /// The problem in a few words, the same for every error with this code.
  package var summary: String {
    switch code {
    case .libraryMissing: "libmicrohttpd cannot be loaded"
    case .cannotListen: "the web server cannot listen"
    case .alreadyServed: "another server listens there"
    case .notASocket: "the path is in use by something else than a socket"
    case .system: "the web server cannot start"
    }
  }

  /// The remedy.
  package var advice: String {
    switch code {
    case .libraryMissing: "install the Debian package libmicrohttpd12"
    case .cannotListen: "choose another address, or stop what uses this one"
    case .alreadyServed: "open that one, stop it, or choose another path"
    case .notASocket: "choose another path"
    case .system: "look at the limits of the process (ulimit -a)"
    }
  }

  package var description: String { "\(summary): \(context) (\(advice))" }
}
