import Foundation
import LoopbackHTTP
import SystemSupport
import Testing

@testable import HTTPClient

/// Connections, limits, slowness and ends.
@Suite struct CurlTransportFlowTests {
  /// Case 43: connections are kept.
  @Test func aConnectionIsUsedAgain() async throws {
    try await withServer { _, connection in
      try connection.send(Response(text: "ok"))
    } test: { server, transport in
      for _ in 0..<5 { _ = try await transport.send(HTTPRequest(url: server.url)) }
      #expect(server.requests.map(\.connection) == [1, 1, 1, 1, 1])
    }
  }

  /// Case 51: a request that waits for a slot of its host does not time out, and blocks no other.
  @Test func twoTransfersPerHostRunAtATimeAndOtherHostsAreNotBlocked() async throws {
    let release = try Signal()
    let counts = Locked((now: 0, most: 0))
    let (started, start) = AsyncStream.makeStream(of: Void.self)
    let (entered, enter) = AsyncStream.makeStream(of: Void.self)
    try await withServer { request, connection in
      guard request.header("Host")?.hasPrefix("127.") == true else {
        return try connection.send(Response(text: "other"))
      }
      counts.withLock {
        $0.now += 1
        $0.most = max($0.most, $0.now)
      }
      enter.yield()
      try connection.stall(until: release)
      counts.withLock { $0.now -= 1 }
      try connection.send(Response(text: "ok"))
    } test: { server, transport in
      try await withThrowingTaskGroup(of: Int.self) { group in
        for _ in 0..<6 {
          group.addTask {
            start.yield()
            return try await transport.send(HTTPRequest(url: server.url)).status
          }
        }
        var starts = started.makeAsyncIterator()
        for _ in 0..<6 { await starts.next() }
        var entries = entered.makeAsyncIterator()
        for _ in 0..<2 { await entries.next() }
        // Each of these takes a turn of the loop, in which a third transfer could have started.
        for _ in 0..<10 {
          let other = HTTPRequest(url: "http://localhost:\(server.port)/")
          #expect(try await transport.send(other).body.text == "other")
        }
        #expect(counts.withLock { $0.most } == 2)
        release.fire()
        for try await status in group { #expect(status == 200) }
      }
      #expect(counts.withLock { $0.most } == 2)
    }
  }

  @Test func manyRequestsAtOnceAllArrive() async throws {
    try await withServer { request, connection in
      try connection.send(Response(headers: [("Connection", "close")], text: request.path))
    } test: { server, transport in
      let paths = try await withThrowingTaskGroup(of: String.self) { group in
        for number in 0..<200 {
          group.addTask {
            try await transport.send(HTTPRequest(url: "\(server.url)/\(number)")).body.text
          }
        }
        return try await group.reduce(into: Set<String>()) { $0.insert($1) }
      }
      #expect(paths.count == 200)
    }
  }

  /// Cases 29 to 31: bytes that come too slowly, in the body, in the headers, or not at all.
  @Test(arguments: ["body", "headers", "silence"])
  func aSlowTrickleIsAborted(part: String) async throws {
    try await withServer {
      $0.slowestBytesPerSecond = 1000
      $0.slowSecondsMax = 1
    } handler: { _, connection in
      switch part {
      case "body": try connection.sendRaw("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nx")
      case "headers": try connection.sendRaw("HTTP/1.1 200 OK\r\nX-Pad: y")
      default: break
      }
      try connection.waitForClose()
    } test: { server, transport in
      let error = await expectFailure(.timeout, of: transport, HTTPRequest(url: server.url))
      #expect(error?.context.contains("too slow") == true)
    }
  }

  /// A limit of its own allows what the minimum rate would end.
  @Test func withoutTheMinimumRateOnlyTheTimeLimitEndsATransfer() async throws {
    try await withServer {
      $0.slowestBytesPerSecond = 1000
      $0.slowSecondsMax = 1
    } handler: { _, connection in
      try connection.waitForClose()
    } test: { server, transport in
      var request = HTTPRequest(url: server.url, timeout: .milliseconds(2_500))
      request.endsSlowTransfers = false
      let error = await expectFailure(.timeout, of: transport, request)
      #expect(error?.context.contains("too slow") == false, "\(error?.context ?? "")")
    }
  }

  @Test func aZeroTimeLimitIsATimeout() async throws {
    try await withServer { _, connection in
      try connection.send(Response())
    } test: { server, transport in
      await expectFailure(.timeout, of: transport, HTTPRequest(url: server.url, timeout: .zero))
      #expect(server.requests.isEmpty)
    }
  }

  /// Case 51: libcurl counts the time in its own queue.
  @Test func waitingForAPlaceDoesNotCountAsTime() async throws {
    let release = try Signal()
    let (entered, enter) = AsyncStream.makeStream(of: Void.self)
    try await withServer {
      $0.transfersPerHost = 1
    } handler: { request, connection in
      if request.path == "/first" {
        enter.yield()
        try connection.stall(until: release)
      }
      try connection.send(Response(text: "ok"))
    } test: { server, transport in
      async let first = transport.send(HTTPRequest(url: server.url + "/first"))
      var entries = entered.makeAsyncIterator()
      await entries.next()
      let patience = Duration.milliseconds(300)
      async let second = transport.send(HTTPRequest(url: server.url, timeout: patience))
      // Time itself is tested here: it passes and does no harm.
      try await Task.sleep(for: patience * 2)
      release.fire()
      #expect(try await first.status == 200)
      #expect(try await second.status == 200)
    }
  }

  /// Case 42: a transfer whose task was cancelled.
  @Test func cancellingTheTaskEndsTheTransfer() async throws {
    let (events, send) = AsyncStream.makeStream(of: String.self)
    try await withServer { _, connection in
      send.yield("entered")
      try connection.waitForClose()
      send.yield("left")
    } test: { server, transport in
      let task = Task { try await transport.send(HTTPRequest(url: server.url)) }
      var iterator = events.makeAsyncIterator()
      #expect(await iterator.next() == "entered")
      task.cancel()
      let error = await #expect(throws: HTTPError.self) { try await task.value }
      #expect(error?.code == .cancelled)
      #expect(await iterator.next() == "left")
    }
  }

  @Test func cancellingAWaitingRequestLeavesTheRunningOne() async throws {
    let release = try Signal()
    let (entered, enter) = AsyncStream.makeStream(of: Void.self)
    try await withServer {
      $0.transfersPerHost = 1
    } handler: { _, connection in
      enter.yield()
      try connection.stall(until: release)
      try connection.send(Response(text: "ok"))
    } test: { server, transport in
      async let running = transport.send(HTTPRequest(url: server.url))
      var entries = entered.makeAsyncIterator()
      await entries.next()
      let waiting = Task { try await transport.send(HTTPRequest(url: server.url)) }
      waiting.cancel()
      let error = await #expect(throws: HTTPError.self) { try await waiting.value }
      #expect(error?.code == .cancelled)
      release.fire()
      let status = try await running.status
      #expect(status == 200)
      #expect(server.requests.count == 1)
    }
  }

  @Test func shuttingDownCancelsWhatRunsAndWhatComesLater() async throws {
    let (entered, enter) = AsyncStream.makeStream(of: Void.self)
    try await withServer { _, connection in
      enter.yield()
      try connection.waitForClose()
    } test: { server, transport in
      let task = Task { try await transport.send(HTTPRequest(url: server.url)) }
      var entries = entered.makeAsyncIterator()
      await entries.next()
      transport.shutdown()
      transport.shutdown()
      let error = await #expect(throws: HTTPError.self) { try await task.value }
      #expect(error?.code == .cancelled)
      await expectFailure(.cancelled, of: transport, HTTPRequest(url: server.url))
    }
  }

  @Test func aServerThatIsNotThereIsUnreachable() async throws {
    try await withServer { _, connection in
      try connection.send(Response())
    } test: { server, transport in
      server.stop()
      await expectFailure(.unreachable, of: transport, HTTPRequest(url: server.url))
    }
  }

  @Test func aServerThatSpeaksNoTLSIsATLSError() async throws {
    try await withServer { _, connection in
      try connection.send(Response())
    } test: { server, transport in
      await expectFailure(
        .tls, of: transport, HTTPRequest(url: "https://127.0.0.1:\(server.port)/"))
    }
  }

  @Test func aProxyIsUsedOnlyWhenConfigured() async throws {
    let proxy = try LoopbackServer { request, connection in
      try connection.send(Response(text: request.target))
    }
    defer { proxy.stop() }
    try await withServer {
      $0.proxy = proxy.url
      $0.directHosts = ["127.0.0.1"]
    } handler: { _, connection in
      try connection.send(Response(text: "direct"))
    } test: { server, transport in
      let proxied = try await transport.send(HTTPRequest(url: "http://feed.invalid/x?y"))
      #expect(proxied.body.text == "http://feed.invalid/x?y")
      #expect(try await transport.send(HTTPRequest(url: server.url)).body.text == "direct")
    }
  }
}
