import Glibc
import TestSupport
import Testing

@testable import WebServer

@Suite struct ListeningTests {
  private func serve(_ address: WebAddress) throws -> WebServer {
    try WebServer(
      .init(address, TestServer.access), handler: { WebResponse(status: 200, line: $0.path) })
  }

  private func expectService(_ server: WebServer) throws {
    let client = try RawClient(server.address)
    try client.get("/page")
    #expect(try client.response().body == "/page\n")
  }

  /// The kind and the mode of a file; nil if there is none.
  private func mode(_ path: String) -> mode_t? {
    var status = stat()
    return lstat(path, &status) == 0 ? status.st_mode : nil
  }

  @Test func onlyItsUserCanOpenTheSocketAndStoppingRemovesIt() throws {
    try withTemporaryFolder { folder in
      let path = folder.path("web.sock")
      let server = try serve(.unix(path: path))
      #expect(mode(path) == S_IFSOCK | 0o600)
      try expectService(server)
      server.stop()
      #expect(mode(path) == nil)
    }
  }

  @Test func theSocketOfADeadServerIsReplaced() throws {
    try withTemporaryFolder { folder in
      let path = folder.path("web.sock")
      close(try SocketFile.listen(at: path).descriptor)
      #expect(mode(path) != nil)
      let server = try serve(.unix(path: path))
      defer { server.stop() }
      try expectService(server)
    }
  }

  @Test func theSocketOfARunningServerIsNotReplaced() throws {
    try withTemporaryFolder { folder in
      let address = WebAddress.unix(path: folder.path("web.sock"))
      let server = try serve(address)
      defer { server.stop() }
      let error = try #require(throws: WebServerError.self) { try serve(address) }
      #expect(error.code == .alreadyServed)
      #expect("\(error)".hasPrefix("another server listens there: \(address) ("))
      try expectService(server)
    }
  }

  @Test func whatIsNoSocketIsLeftAsItIs() throws {
    try withTemporaryFolder { folder in
      let server = try serve(.unix(path: folder.path("other.sock")))
      defer { server.stop() }
      let (file, link) = (folder.path("file"), folder.path("link"))
      close(creat(file, 0o644))
      symlink("other.sock", link)
      for path in [file, link, folder.path] {
        let before = mode(path)
        let error = try #require(throws: WebServerError.self) { try serve(.unix(path: path)) }
        #expect(error.code == .notASocket)
        #expect(before != nil && mode(path) == before)
      }
    }
  }

  @Test func aFileThatHasReplacedTheSocketIsNotRemoved() throws {
    try withTemporaryFolder { folder in
      let path = folder.path("web.sock")
      let server = try serve(.unix(path: path))
      unlink(path)
      close(creat(path, 0o644))
      server.stop()
      #expect(mode(path) == S_IFREG | 0o644)
    }
  }

  @Test(arguments: ["", "missing/web.sock", String(repeating: "x", count: 108)])
  func aPathThatCannotBeUsedIsAnError(name: String) throws {
    try withTemporaryFolder { folder in
      let path = name.isEmpty ? "" : folder.path(name)
      let error = try #require(throws: WebServerError.self) { try serve(.unix(path: path)) }
      #expect(error.code == .cannotListen)
    }
  }

  @Test func aPortInUseIsAnError() throws {
    let server = try serve(.tcp(host: "localhost", port: 0))
    defer { server.stop() }
    let error = try #require(throws: WebServerError.self) { try serve(server.address) }
    #expect(error.code == .cannotListen)
    #expect(error.context == "\(server.address): Address already in use")
    server.stop()
    try serve(server.address).stop()
  }

  @Test func aMissingLibraryIsOneClearError() throws {
    let error = try #require(throws: WebServerError.self) {
      _ = try LibMicroHTTPD(file: "libmicrohttpd-that-is-missing.so.12")
    }
    #expect(error.code == .libraryMissing)
    #expect("\(error)".contains("libmicrohttpd-that-is-missing.so.12"))
    #expect(error.advice == "install the Debian package libmicrohttpd12")
    let other = try #require(throws: WebServerError.self) {
      _ = try LibMicroHTTPD(file: "libc.so.6")
    }
    #expect(other.context == "libc.so.6 has no function MHD_start_daemon")
  }
}
