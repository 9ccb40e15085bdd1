import Foundation
import TestSupport

@testable import WebServer

/// A server for one test; by default on a unix socket, where no token is needed.
struct TestServer {
  static let access: Access = {
    var random = SeededRandom(seed: 25)
    return Access(using: &random)
  }()

  static func limits(_ change: (inout WebServer.Limits) -> Void) -> WebServer.Limits {
    var limits = WebServer.Limits()
    change(&limits)
    return limits
  }

  /// Runs `body` with a server that listens in a new folder, and stops the server.
  static func run(
    limits: WebServer.Limits = WebServer.Limits(),
    _ handler: @escaping @Sendable (WebRequest) -> WebResponse = {
      WebResponse(status: 200, line: $0.path)
    }, body: (WebServer) throws -> Void
  ) throws {
    try withTemporaryFolder { folder in
      let server = try WebServer(
        .init(.unix(path: folder.path("web.sock")), access, limits: limits), handler: handler)
      defer { server.stop() }
      try body(server)
    }
  }
}
