import Foundation
import LoopbackHTTP
import TestSupport
import Testing

@testable import HTTPClient

/// Runs the test with a server and a transport and ends both afterwards.
func withServer(
  configure: (inout CurlTransport.Configuration) -> Void = { _ in },
  handler: @escaping LoopbackServer.Handler,
  test: (LoopbackServer, CurlTransport) async throws -> Void
) async throws {
  let server = try LoopbackServer(handler: handler)
  defer { server.stop() }
  var configuration = CurlTransport.Configuration()
  // Only a test that is about slowness waits for it: others may wait for their turn of the machine.
  configuration.slowSecondsMax = 600
  configure(&configuration)
  let transport = try CurlTransport(configuration: configuration)
  defer { transport.shutdown() }
  try await test(server, transport)
}

/// Expects the request to fail with the code, and returns the error.
@discardableResult
func expectFailure(
  _ code: HTTPError.Code, of transport: CurlTransport, _ request: HTTPRequest,
  sourceLocation: SourceLocation = #_sourceLocation
) async -> HTTPError? {
  let error = await #expect(throws: HTTPError.self, sourceLocation: sourceLocation) {
    try await transport.send(request)
  }
  #expect(error?.code == code, "\(String(describing: error))", sourceLocation: sourceLocation)
  return error
}

extension PaddedBytes {
  var text: String { withUnsafeBytes { String(decoding: $0, as: UTF8.self) } }
}
