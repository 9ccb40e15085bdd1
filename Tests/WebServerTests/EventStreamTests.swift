import Dispatch
import Testing

@testable import WebServer

@Suite struct EventStreamTests {
  private func serve(
    limits: WebServer.Limits = WebServer.Limits(),
    _ body: (WebServer, EventChannel) throws -> Void
  ) throws {
    let channel = EventChannel()
    try TestServer.run(limits: limits) { request in
      request.path == "/events"
        ? WebResponse(body: .events(channel)) : WebResponse(status: 200, line: request.path)
    } body: {
      try body($0, channel)
    }
  }

  /// Opens a stream and reads its first bytes.
  private func open(_ server: WebServer) throws -> RawClient {
    let client = try RawClient(server.address)
    try client.get("/events")
    let head = try client.read(until: "retry: 2000\n\n")
    #expect(head.contains("Content-Type: text/event-stream\r\n"))
    return client
  }

  @Test func aHundredClientsGetEachEvent() throws {
    try serve { server, channel in
      let clients = try (0..<100).map { _ in try open(server) }
      #expect(channel.subscriberCount == 100)
      for number in 1...20 {
        channel.publish("status", "\(number)")
        for client in clients { _ = try client.read(until: "data: \(number)\n\n") }
      }
      let page = try RawClient(server.address)
      try page.get("/page")
      #expect(try page.response().body == "/page\n")
    }
  }

  @Test func aClientThatDoesNotReadSkipsToTheNewestEvent() throws {
    try serve { server, channel in
      let (slow, quick) = (try open(server), try open(server))
      let (count, padding) = (400, String(repeating: "x", count: 50_000))
      for number in 1...count {
        channel.publish("status", "\(number) \(padding)")
        _ = try quick.read(until: "data: \(number) ")
      }
      channel.publish("end", "now")
      let text = try slow.read(until: "data: now\n\n")
      #expect(text.contains("data: \(count) "))
      #expect(text.utf8.count < count * padding.utf8.count / 2)
    }
  }

  @Test func eventsOfSeveralThreadsReachAllClients() throws {
    try serve { server, channel in
      let clients = try (0..<10).map { _ in try open(server) }
      let publishers = DispatchGroup()
      for name in ["a", "b"] {
        DispatchQueue(label: name).async(group: publishers) {
          for number in 0...5_000 { channel.publish(name, "\(number)") }
        }
      }
      publishers.wait()
      channel.publish("end", "now")
      for client in clients { #expect(try client.read(until: "now\n\n").contains("data: 5000\n")) }
    }
  }

  @Test func headOfAStreamEndsAtOnce() throws {
    try serve { server, channel in
      let client = try RawClient(server.address)
      try client.get("/events", method: "HEAD")
      #expect(try client.response(hasBody: false).status == 200)
      try client.get("/page")
      #expect(try client.response().body == "/page\n")
      #expect(channel.subscriberCount == 0)
    }
  }

  /// With room for one connection, the second one is accepted when the first one is closed.
  @Test func aClientThatHasGoneIsNoticedWithoutAnEvent() throws {
    let limits = TestServer.limits {
      $0.connections = 1
      $0.heartbeat = .milliseconds(20)
    }
    try serve(limits: limits) { server, channel in
      var client: RawClient? = try open(server)
      _ = try client?.read(until: ":\n\n")
      client = nil
      let other = try RawClient(server.address)
      try other.get("/page")
      #expect(try other.response().body == "/page\n")
      #expect(channel.subscriberCount == 0)
    }
  }

  @Test func stoppingEndsOpenStreams() throws {
    try serve { server, channel in
      let clients = try (0..<50).map { _ in try open(server) }
      let unread = try open(server)
      for _ in 0..<100 { channel.publish("status", String(repeating: "x", count: 100_000)) }
      server.stop()
      for client in clients + [unread] { _ = try client.readToEnd() }
      #expect(channel.subscriberCount == 0)
      channel.publish("status", "nobody")
    }
  }
}
