@testable import WebServer

/// Reads a request: a line with method and target, headers, an empty line, a form. It is refused
/// with a status of the client, or it is a request whose target can be written again; without the
/// token no request is allowed at a TCP port.
@_cdecl("fuzz_http_request")
public func fuzzHTTPRequest(_ bytes: UnsafePointer<UInt8>?, _ count: Int) {
  // SAFETY: libFuzzer keeps the `count` bytes until this returns; they are copied.
  let input = Array(UnsafeBufferPointer(start: bytes, count: count))
  let end = input.firstRange(of: [10, 10])
  let lines = String(decoding: input[..<(end?.lowerBound ?? count)], as: UTF8.self)
    .split(separator: "\n", omittingEmptySubsequences: false)
  let start = lines[0].split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
  let headers: [WebRequest.Field] = lines.dropFirst().map { line in
    let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    return (String(parts[0]), parts.count == 2 ? String(parts[1].drop { $0 == " " }) : "")
  }
  do throws(Refusal) {
    let head = try RequestHead(
      method: String(start[0]), target: start.count == 2 ? String(start[1]) : "",
      headers: headers, headBytes: count, limits: WebServer.Limits())
    let request = try head.request(body: Array(input[(end?.upperBound ?? count)...]))
    try checkTarget(of: request)
    checkAccess(of: request)
  } catch {
    guard (400...499).contains(error.status), !error.line.contains("\n") else {
      fatalError("a refusal with \(error)")
    }
  }
}

/// Writes path and query, and reads them again.
private func checkTarget(of request: WebRequest) throws(Refusal) {
  let again = try RequestHead(
    method: "GET", target: FormText.target(path: request.path, query: request.query),
    headers: [("Host", "a")], headBytes: 0, limits: WebServer.Limits()
  ).request(body: [])
  guard again.path == request.path,
    again.query.map(\.name) == request.query.map(\.name),
    again.query.map(\.value) == request.query.map(\.value)
  else { fatalError("\(request.path) and \(request.query) read as \(again)") }
}

private func checkAccess(of request: WebRequest) {
  let tcp = WebAddress.tcp(host: "127.0.0.1", port: 8080)
  if case .refused = access.decide(request, at: tcp) {
    _ = access.decide(request, at: .unix(path: "/run/mooring/serve"))
  } else {
    fatalError("allowed without the token")
  }
}

private let access: Access = {
  var generator = SystemRandomNumberGenerator()
  return Access(allowedHosts: ["proxy.example"], using: &generator)
}()
