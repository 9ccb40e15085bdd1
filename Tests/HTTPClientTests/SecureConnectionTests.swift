import Foundation
import Glibc
import LoopbackHTTP
import TestSupport
import Testing

@testable import HTTPClient

@Suite struct SecureConnectionTests {
  /// HTTP/2 is agreed upon in the TLS handshake (RFC 7301), so what is offered is in its first
  /// bytes.
  @Test func http2IsNegotiated() async throws {
    let listener = try HelloListener()
    async let hello = listener.firstBytes()
    let transport = try CurlTransport()
    defer { transport.shutdown() }
    await expectFailure(
      .tls, of: transport, HTTPRequest(url: "https://127.0.0.1:\(listener.port)/"))
    let bytes = await hello
    #expect(bytes.first == 0x16, "a TLS handshake")
    #expect(bytes.firstRange(of: [2] + Array("h2".utf8) + [8] + Array("http/1.1".utf8)) != nil)
  }

  @Test(.enabled(if: hasOpenSSL, "openssl is not installed"))
  func anUntrustedCertificateIsRefused() async throws {
    try await withTemporaryFolder { folder in
      let (key, certificate) = (folder.path("key.pem"), folder.path("certificate.pem"))
      let made = SpawnedProcess()
      made.executableURL = URL(filePath: openSSL)
      made.arguments = [
        "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1",
        "-keyout", key, "-out", certificate,
      ]
      made.standardOutput = FileHandle.nullDevice
      made.standardError = FileHandle.nullDevice
      try made.run()
      made.waitUntilExit()
      try #require(made.terminationStatus == 0)
      let port = try freePort()
      let server = try ChildProcess(
        URL(filePath: openSSL),
        [
          "s_server", "-accept", "127.0.0.1:\(port)", "-key", key, "-cert", certificate, "-www",
        ])
      defer { server.kill() }
      while let line = server.readLine(), !line.contains("ACCEPT") {}
      let transport = try CurlTransport()
      defer { transport.shutdown() }
      await expectFailure(
        .tls, of: transport, HTTPRequest(url: "https://127.0.0.1:\(port)/"))
    }
  }
}

private let openSSL = "/usr/bin/openssl"
private let hasOpenSSL = FileManager.default.isExecutableFile(atPath: openSSL)

/// Takes one connection and reads what comes first.
private final class HelloListener: Sendable {
  let port: UInt16
  private let descriptor: Int32

  init() throws {
    (descriptor, port) = try listeningSocket()
  }

  deinit { close(descriptor) }

  /// Empty without a connection.
  func firstBytes() async -> [UInt8] {
    await withCheckedContinuation { continuation in
      // It blocks, and the tests share few threads.
      Thread.detachNewThread { [self] in continuation.resume(returning: receive()) }
    }
  }

  private func receive() -> [UInt8] {
    let connection = accept(descriptor, nil, nil)
    guard connection >= 0 else { return [] }
    defer { close(connection) }
    var bytes = [UInt8](repeating: 0, count: 4_096)
    // SAFETY: recv writes at most `bytes.count` bytes into the array that it is lent.
    let count = recv(connection, &bytes, bytes.count, 0)
    return Array(bytes.prefix(max(0, count)))
  }
}
