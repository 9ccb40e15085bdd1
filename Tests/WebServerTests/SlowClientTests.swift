import Testing

@testable import WebServer

@Suite struct SlowClientTests {
  private static let limits = TestServer.limits {
    $0.requestTimeout = .milliseconds(200)
    $0.idleTimeout = .milliseconds(400)
    $0.heartbeat = .seconds(3_600)
  }

  private func expectService(_ server: WebServer) throws {
    let client = try RawClient(server.address)
    try client.get("/page")
    #expect(try client.response().body == "/page\n")
  }

  @Test(arguments: [
    "", "GET / HT", "GET / HTTP/1.1\r\nX: ",
    "POST / HTTP/1.1\r\nHost: h\r\nContent-Type: application/x-www-form-urlencoded\r\n"
      + "Content-Length: 9000\r\n\r\n",
  ])
  func aRequestThatNeverEndsIsCut(start: String) throws {
    try TestServer.run(limits: Self.limits) { server in
      let (silent, slow) = (try RawClient(server.address), try RawClient(server.address))
      try silent.send(start)
      try slow.send(start)
      try expectService(server)
      try slow.dribble()
      try silent.waitForHangUp()
      try expectService(server)
    }
  }

  @Test func anIdleConnectionIsClosedAlsoWhileBytesOfARequestLineCome() throws {
    try TestServer.run(limits: Self.limits) { server in
      let (silent, slow) = (try RawClient(server.address), try RawClient(server.address))
      for client in [silent, slow] {
        try client.get("/page")
        _ = try client.response()
      }
      try slow.dribble()
      try silent.waitForHangUp()
    }
  }

  @Test func aClientThatDoesNotReadIsCutAndAStreamIsNot() throws {
    let channel = EventChannel()
    let large = [UInt8](repeating: 0x78, count: 8 << 20)
    try TestServer.run(limits: Self.limits) { request in
      switch request.path {
      case "/events": WebResponse(body: .events(channel))
      case "/large": WebResponse(body: .bytes(large))
      default: WebResponse(status: 200, line: request.path)
      }
    } body: { server in
      let stream = try RawClient(server.address)
      try stream.get("/events")
      _ = try stream.read(until: "retry: 2000\n\n")
      let client = try RawClient(server.address)
      try client.get("/large")
      try expectService(server)
      try client.waitForHangUp()
      channel.publish("status", "still here")
      _ = try stream.read(until: "data: still here\n\n")
    }
  }
}
