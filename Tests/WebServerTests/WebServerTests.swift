import Dispatch
import Glibc
import Testing

@testable import WebServer

@Suite struct WebServerTests {
  @Test func aConnectionServesSeveralRequests() throws {
    try TestServer.run { server in
      let client = try RawClient(server.address)
      for path in ["/1", "/2"] {
        try client.get(path)
        #expect(try client.response().body == "\(path)\n")
      }
      try client.send("GET /3 HTTP/1.1\r\nHost: h\r\n\r\nGET /4 HTTP/1.1\r\nHost: h\r\n\r\n")
      #expect(try client.response().body == "/3\n")
      #expect(try client.response().body == "/4\n")
    }
  }

  @Test func headHasTheHeadersOfGetAndNoBody() throws {
    try TestServer.run { server in
      let client = try RawClient(server.address)
      try client.get("/page", method: "HEAD")
      let head = try client.response(hasBody: false)
      #expect(head.header("Content-Length") == "6")
      try client.get("/page")
      #expect(try client.response().body == "/page\n")
    }
  }

  @Test func aFormArrivesDecoded() throws {
    try TestServer.run({ WebResponse(status: 200, line: $0.field("name") ?? "") }) { server in
      let client = try RawClient(server.address)
      try client.post("/", "csrf=\(TestServer.access.csrf)&name=a+%C3%BC")
      #expect(try client.response().body == "a ü\n")
      try client.post("/", "csrf=&name=a")
      #expect(try client.response().status == 403)
      try client.post("/", "")
      #expect(try client.response().status == 403)
    }
  }

  @Test func eachResponseHasTheSecurityHeaders() throws {
    try TestServer.run({ request in
      WebResponse(status: request.path == "/missing" ? 404 : 200, line: "")
    }) { server in
      for (method, path) in [("GET", "/"), ("GET", "/missing"), ("GET", "/%"), ("PUT", "/")] {
        let client = try RawClient(server.address)
        try client.get(path, method: method)
        let response = try client.response()
        for (name, value) in WebResponse.securityHeaders {
          #expect(response.header(name) == value)
        }
      }
    }
  }

  @Test(arguments: ["PUT", "DELETE", "OPTIONS", "TRACE", "PATCH", "CONNECT", "get", "X"])
  func otherMethodsAreRefused(method: String) throws {
    try TestServer.run { server in
      let client = try RawClient(server.address)
      try client.get("/", method: method)
      let response = try client.response()
      #expect(response.status == 405)
      #expect(response.header("Allow") == "GET, HEAD, POST")
    }
  }

  @Test(arguments: [
    ("X", "a\r\nSet-Cookie: b"), ("X", "a\nb"), ("X\r\nY", "a"), ("X", "a\0"), ("", "a"),
    ("Content-Length", "3"), ("Transfer-Encoding", "gzip"),
  ])
  func aHeaderThatCannotBeSentIsAnError(name: String, value: String) throws {
    try TestServer.run({ _ in
      WebResponse(headers: [(name, value)], body: .bytes([]))
    }) { server in
      let client = try RawClient(server.address)
      try client.get("/")
      let response = try client.response()
      #expect(response.status == 500)
      #expect(response.header("Set-Cookie") == nil)
    }
  }

  @Test func aSlowHandlerDoesNotDelayOtherPages() throws {
    let (entered, release) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    try TestServer.run(limits: TestServer.limits { $0.handlers = 2 }) { request in
      if request.path == "/slow" {
        entered.signal()
        release.wait()
      }
      return WebResponse(status: 200, line: request.path)
    } body: { server in
      let slow = try RawClient(server.address)
      try slow.get("/slow")
      entered.wait()
      let other = try RawClient(server.address)
      for _ in 0..<100 {
        try other.get("/fast")
        #expect(try other.response().body == "/fast\n")
      }
      release.signal()
      #expect(try slow.response().body == "/slow\n")
    }
  }

  @Test func connectionsBeyondTheLimitWaitForTheirTurn() throws {
    try TestServer.run(limits: TestServer.limits { $0.connections = 2 }) { server in
      var clients = try (0..<5).map { _ in try RawClient(server.address) }
      for (index, client) in clients.enumerated() { try client.get("/\(index)") }
      for index in 0..<5 {
        #expect(try clients[0].response().body == "/\(index)\n")
        clients.removeFirst()
      }
    }
  }

  @Test func aPortNeedsTheTokenOfItsURL() throws {
    let server = try WebServer(
      .init(.tcp(host: "127.0.0.1", port: 0), TestServer.access),
      handler: { WebResponse(status: 200, line: $0.path) })
    defer { server.stop() }
    let host = "Host: \(server.address)\r\n"
    let client = try RawClient(server.address)
    try client.get("/", host)
    let refused = try client.response()
    #expect(refused.status == 401)
    #expect(refused.header("WWW-Authenticate") == "Bearer")
    try client.get("/", "Host: evil.example\r\n")
    #expect(try client.response().status == 421)
    let url = try #require(TestServer.access.url(at: server.address))
    try client.get(String(url.dropFirst("http://\(server.address)".count)), host)
    let redirect = try client.response()
    #expect(redirect.status == 303)
    #expect(redirect.header("Location") == "/")
    let cookie = try #require(redirect.header("Set-Cookie")?.prefix { $0 != ";" })
    try client.get("/page", host + "Cookie: \(cookie)\r\n")
    #expect(try client.response().body == "/page\n")
  }

  @Test func stoppingWaitsForHandlersAndEndsAllConnections() throws {
    let (entered, release) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let stopped = DispatchSemaphore(value: 0)
    try TestServer.run { request in
      entered.signal()
      release.wait()
      return WebResponse(status: 200, line: request.path)
    } body: { server in
      let (idle, busy) = (try RawClient(server.address), try RawClient(server.address))
      try busy.get("/")
      entered.wait()
      DispatchQueue(label: "stop").async {
        server.stop()
        server.stop()
        stopped.signal()
      }
      // The socket is removed first; then the handler is waited for.
      while Glibc.access("\(server.address)", F_OK) == 0 { sched_yield() }
      #expect(stopped.wait(timeout: .now()) == .timedOut)
      release.signal()
      stopped.wait()
      _ = try busy.readToEnd()
      #expect(try idle.readToEnd() == "")
    }
  }
}
