import ArgumentParser
import Foundation
import LoopbackHTTP

/// Serves the seeded episodes on 127.0.0.1 until its standard input ends. It creates all bytes
/// before the first request. In a process of its own, its work counts for no candidate.
struct FeedServer: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "feed-server", abstract: "Serves the feed for `bench sync`.",
    shouldDisplay: false)

  @Option var rows: Int
  @Option var rowsPerPage: Int
  @Option var seed: UInt64

  func run() throws {
    let workload = try Workload(rows: rows, seed: seed)
    let pages = FeedPages(
      episodes: workload.rows(0..<rows).episodes.map(\.inWholeSeconds), rowsPerPage: rowsPerPage)
    let answers = FeedAnswers(pages)
    let server = try LoopbackServer { request, connection in
      try connection.send(answers.answer(to: request))
    }
    FileHandle.standardOutput.write(Data("\(server.url)\n".utf8))
    while readLine() != nil {}
    server.stop()
  }
}

/// The responses to all requests of the clients of the feed.
struct FeedAnswers: Sendable {
  private let pages: [String: Response]

  init(_ pages: FeedPages) {
    self.pages = Dictionary(
      uniqueKeysWithValues: (0..<pages.count).map { page in
        let headers = [
          ("ETag", "\"page-\(page)\""), ("Content-Type", "application/vnd.homefeed+json;version=1"),
        ]
        return (pages.target(page), Response(headers: headers, body: pages.body(page)))
      })
  }

  func answer(to request: Request) -> Response {
    guard let page = pages[request.target] else { return Response(status: 404) }
    let tag = page.headers.first?.1
    guard tag == nil || request.header("If-None-Match") != tag else {
      return Response(status: 304, headers: page.headers)
    }
    return page
  }
}

/// A process that runs `FeedServer` or `SlowFeedServer`.
final class FeedServerProcess {
  /// The URL of the first page.
  let url: String
  private let process = Process()
  private let input = Pipe()

  convenience init(rows: Int, rowsPerPage: Int, seed: UInt64) throws {
    try self.init(
      arguments: [
        "feed-server", "--rows", "\(rows)", "--rows-per-page", "\(rowsPerPage)", "--seed",
        "\(seed)",
      ], path: FeedPages.path)
  }

  /// - Parameter path: That of the first page.
  init(arguments: [String], path: String) throws {
    let output = Pipe()
    process.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
    process.arguments = arguments
    process.standardInput = input
    process.standardOutput = output
    try process.run()
    var line: [UInt8] = []
    while line.last != UInt8(ascii: "\n") {
      let data = output.fileHandleForReading.availableData
      guard !data.isEmpty else { throw BenchError(.candidate, "the feed server did not start") }
      line += data
    }
    url = String(decoding: line.dropLast(), as: UTF8.self) + path
  }

  /// Ends the process and waits for it.
  func stop() throws {
    try input.fileHandleForWriting.close()
    process.waitUntilExit()
  }
}
