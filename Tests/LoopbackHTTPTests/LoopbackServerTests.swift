import LoopbackHTTP
import SystemSupport
import Testing

@Suite struct LoopbackServerTests {
  @Test func aRequestIsParsedAndAnswered() throws {
    let server = try LoopbackServer { _, connection in
      try connection.send(Response(headers: [("ETag", "\"1\"")], text: "hello"))
    }
    defer { server.stop() }
    let client = try RawClient(port: server.port)
    try client.send(
      "GET /a%20b/c?x=1%262&y&z=a+b=%zz HTTP/1.1\r\nHost: h\r\nX-One:  two \r\nx-one: three\r\n\r\n"
    )
    #expect(
      try client.read(until: "hello")
        == "HTTP/1.1 200 OK\r\nETag: \"1\"\r\nContent-Length: 5\r\n\r\nhello")

    let request = try #require(server.requests.first)
    #expect(request.method == "GET")
    #expect(request.target == "/a%20b/c?x=1%262&y&z=a+b=%zz")
    #expect(request.path == "/a b/c")
    #expect(request.query.map { "\($0.name)|\($0.value)" } == ["x|1&2", "y|", "z|a+b=%zz"])
    #expect(request.header("X-ONE") == "two")
    #expect(request.header("absent") == nil)
    #expect(request.queryValue("x") == "1&2")
    #expect(server.url == "http://127.0.0.1:\(server.port)")
  }

  @Test func requestsSentAheadAreAnsweredInOrderOnOneConnection() throws {
    let server = try LoopbackServer { request, connection in
      try connection.send(Response(text: request.path + "\n"))
    }
    defer { server.stop() }
    let client = try RawClient(port: server.port)
    try client.send("GET /1 HTTP/1.1\r\n\r\nGET /2 HTTP/1.1\r\n\r\n")
    _ = try client.read(until: "/1\n")
    _ = try client.read(until: "/2\n")
    try client.send("GET /3 HTTP/1.1\r\nConnection: close\r\n\r\n")
    #expect(try client.readToEnd().hasSuffix("/3\n"))
    let second = try RawClient(port: server.port)
    try second.send("GET /4 HTTP/1.1\r\n\r\n")
    _ = try second.read(until: "/4\n")
    #expect(server.requests.map(\.path) == ["/1", "/2", "/3", "/4"])
    #expect(server.requests.map(\.connection) == [1, 1, 1, 2])
  }

  @Test(arguments: [("HEAD", 200, true), ("GET", 204, false), ("GET", 304, false)])
  func anAnswerWithoutBodySendsNone(method: String, status: Int, hasLength: Bool) throws {
    let server = try LoopbackServer { _, connection in
      try connection.send(Response(status: status, text: "body"))
    }
    defer { server.stop() }
    let client = try RawClient(port: server.port)
    try client.send("\(method) / HTTP/1.1\r\nConnection: close\r\n\r\n")
    let answer = try client.readToEnd()
    #expect(answer.hasSuffix("\r\n\r\n"))
    #expect(answer.contains("Content-Length: 4") == hasLength)
  }

  @Test func bodiesArriveByLengthAndByChunks() throws {
    let server = try LoopbackServer { request, connection in
      try connection.send(Response(body: request.body + [10]))
    }
    defer { server.stop() }
    let client = try RawClient(port: server.port)
    try client.send("POST / HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc")
    _ = try client.read(until: "abc\n")
    try client.send(
      "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"
        + "2;x=y\r\nde\r\n1\r\nf\r\n0\r\nT: 1\r\n\r\n"
    )
    _ = try client.read(until: "def\n")
    #expect(server.requests.map(\.body) == [Array("abc".utf8), Array("def".utf8)])
  }

  @Test func chunksAreSentAsTheyAreWritten() throws {
    let server = try LoopbackServer { _, connection in
      try connection.sendHead(headers: [("X", "y")])
      try connection.sendChunk(Array(repeating: 97, count: 16))
      try connection.sendChunk([])
      try connection.endChunks()
    }
    defer { server.stop() }
    let client = try RawClient(port: server.port)
    try client.send("GET / HTTP/1.1\r\n\r\n")
    #expect(
      try client.read(until: "\r\n0\r\n\r\n") == """
        HTTP/1.1 200 OK\r\nX: y\r\nTransfer-Encoding: chunked\r\n\r\n\
        10\r\naaaaaaaaaaaaaaaa\r\n0\r\n\r\n
        """)
  }

  @Test func anUnendedChunkedBodyEndsTheConnection() throws {
    let server = try LoopbackServer { _, connection in
      try connection.sendHead()
      try connection.sendChunk([120])
    }
    defer { server.stop() }
    let client = try RawClient(port: server.port)
    try client.send("GET / HTTP/1.1\r\n\r\n")
    #expect(try client.readToEnd().hasSuffix("1\r\nx\r\n"))
  }

  @Test func rawBytesGoOutUnchanged() throws {
    let server = try LoopbackServer { _, connection in
      try connection.sendRaw("not HTTP at all")
      connection.close()
    }
    defer { server.stop() }
    let client = try RawClient(port: server.port)
    try client.send("GET / HTTP/1.1\r\n\r\n")
    #expect(try client.readToEnd() == "not HTTP at all")
  }

  @Test func aHandlerThatFailsOrSendsNothingAnswers500() throws {
    struct Broken: Error {}
    let server = try LoopbackServer { request, _ in
      if request.path == "/throw" { throw Broken() }
    }
    defer { server.stop() }
    let client = try RawClient(port: server.port)
    try client.send("GET /throw HTTP/1.1\r\n\r\n")
    #expect(try client.read(until: "failed: Broken()\n").hasPrefix("HTTP/1.1 500 "))
    try client.send("GET / HTTP/1.1\r\n\r\n")
    #expect(try client.read(until: "sent nothing\n").hasPrefix("HTTP/1.1 500 "))
  }

  @Test(arguments: [
    ("nonsense\r\n\r\n", 400), ("\u{16}\u{3}\u{1}", 400),
    ("GET / HTTP/1.1\r\nno colon\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nContent-Length: 1048577\r\n\r\n", 413),
    ("POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", 400),
  ])
  func aRequestBeyondRulesOrLimitsIsRefused(request: String, status: Int) throws {
    let server = try LoopbackServer { _, connection in try connection.send(Response()) }
    defer { server.stop() }
    let client = try RawClient(port: server.port)
    try client.send(request)
    #expect(try client.read(until: "\r\n").hasPrefix("HTTP/1.1 \(status) "))
    #expect(server.requests.isEmpty)
  }

  @Test func headersWithoutEndAreRefused() throws {
    let server = try LoopbackServer { _, connection in try connection.send(Response()) }
    defer { server.stop() }
    let client = try RawClient(port: server.port)
    try client.send(
      "GET / HTTP/1.1\r\nX: " + String(repeating: "x", count: LoopbackServer.Limits.headerBytes))
    #expect(try client.read(until: "\r\n").hasPrefix("HTTP/1.1 413 "))
  }

  @Test func anAnswerIsHeldBackUntilTheSignal() throws {
    let entered = try Signal()
    let release = try Signal()
    let server = try LoopbackServer { _, connection in
      entered.fire()
      try connection.stall(until: release)
      try connection.send(Response(text: "late"))
    }
    defer { server.stop() }
    let client = try RawClient(port: server.port)
    try client.send("GET / HTTP/1.1\r\n\r\n")
    try entered.wait()
    release.fire()
    release.fire()
    _ = try client.read(until: "late")
  }

  @Test func aHandlerSeesThatTheClientHasGone() throws {
    let entered = try Signal()
    let left = try Signal()
    let server = try LoopbackServer { _, connection in
      entered.fire()
      try connection.waitForClose()
      left.fire()
    }
    defer { server.stop() }
    var client: RawClient? = try RawClient(port: server.port)
    try client?.send("GET / HTTP/1.1\r\n\r\n")
    try entered.wait()
    client = nil
    try left.wait()
  }

  @Test func stoppingEndsIdleAndStalledConnectionsAndFurtherCallsDoNothing() throws {
    let entered = try Signal()
    let never = try Signal()
    let outcome = Locked<LoopbackError.Code?>(nil)
    let server = try LoopbackServer { _, connection in
      entered.fire()
      do {
        try connection.stall(until: never)
      } catch let error as LoopbackError {
        outcome.withLock { $0 = error.code }
      }
    }
    let idle = try RawClient(port: server.port)
    let stalled = try RawClient(port: server.port)
    try stalled.send("GET / HTTP/1.1\r\n\r\n")
    try entered.wait()
    server.stop()
    server.stop()
    #expect(outcome.withLock { $0 } == .connectionClosed)
    #expect(try stalled.readToEnd() == "")
    #expect(try idle.readToEnd() == "")
    #expect(throws: RawClient.Failure.self) { try RawClient(port: server.port) }
  }

  @Test func aServerCanBeStoppedByItsOwnHandler() throws {
    let stopped = try Signal()
    let box = Locked<LoopbackServer?>(nil)
    let server = try LoopbackServer { _, _ in
      box.withLock { $0 }?.stop()
      stopped.fire()
    }
    box.withLock { $0 = server }
    let client = try RawClient(port: server.port)
    try client.send("GET / HTTP/1.1\r\n\r\n")
    try stopped.wait()
    box.withLock { $0 = nil }
  }

  @Test func moreConnectionsThanThreadsWaitForTheirTurn() throws {
    let release = try Signal()
    let full = try Signal()
    let serving = Locked((now: 0, most: 0))
    let server = try LoopbackServer { _, connection in
      let now = serving.withLock {
        $0.now += 1
        $0.most = max($0.most, $0.now)
        return $0.now
      }
      if now == LoopbackServer.Limits.connections { full.fire() }
      try connection.stall(until: release)
      serving.withLock { $0.now -= 1 }
      try connection.send(Response(headers: [("Connection", "close")], text: "done"))
    }
    defer { server.stop() }
    let clients = try (0..<LoopbackServer.Limits.connections + 8).map { _ in
      try RawClient(port: server.port)
    }
    for client in clients { try client.send("GET / HTTP/1.1\r\n\r\n") }
    try full.wait()
    release.fire()
    for client in clients { #expect(try client.readToEnd().hasSuffix("done")) }
    #expect(serving.withLock { $0.most } == LoopbackServer.Limits.connections)
  }

  @Test func theLogKeepsTheLastRequests() throws {
    let server = try LoopbackServer { _, connection in try connection.send(Response()) }
    defer { server.stop() }
    let client = try RawClient(port: server.port)
    let surplus = 5
    for number in 0..<LoopbackServer.Limits.loggedRequests + surplus {
      try client.send("GET /\(number) HTTP/1.1\r\n\r\n")
      _ = try client.read(until: "\r\n\r\n")
    }
    #expect(server.requests.count == LoopbackServer.Limits.loggedRequests)
    #expect(server.requests.first?.path == "/\(surplus)")
  }

  @Test func aTakenPortIsAnError() throws {
    let server = try LoopbackServer { _, _ in }
    defer { server.stop() }
    let error = #expect(throws: LoopbackError.self) {
      try LoopbackServer(port: server.port) { _, _ in }
    }
    #expect(error?.code == .cannotListen)
    #expect(error?.description.contains("\(server.port)") == true)
  }
}
