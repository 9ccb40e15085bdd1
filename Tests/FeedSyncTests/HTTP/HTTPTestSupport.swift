import Foundation
import LoopbackHTTP
import TestSupport
import Testing

@testable import FeedSync

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

/// The gzip stream of the file that `write` fills, by the gzip command.
func gzip(_ write: (FileHandle) throws -> Void) throws -> [UInt8] {
  let folder = FileManager.default.temporaryDirectory.appending(path: "gzip-\(UUID())")
  try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  defer {
    do { try FileManager.default.removeItem(at: folder) } catch { Issue.record(error) }
  }
  let file = folder.appending(path: "plain")
  _ = FileManager.default.createFile(atPath: file.path, contents: nil)
  let handle = try FileHandle(forWritingTo: file)
  try write(handle)
  try handle.close()
  let process = SpawnedProcess()
  process.executableURL = URL(filePath: "/usr/bin/gzip")
  process.arguments = ["-1", "-n", file.path]
  try process.run()
  process.waitUntilExit()
  #expect(process.terminationStatus == 0)
  return [UInt8](try Data(contentsOf: file.appendingPathExtension("gz")))
}

func gzip(_ text: String) throws -> [UInt8] {
  try gzip { try $0.write(contentsOf: Data(text.utf8)) }
}
