import ArgumentParser
import Foundation
import PageServer

/// Serves the seeded episodes on 127.0.0.1 until its standard input ends: every byte is made before
/// the first request, and in a process of its own nothing of it is counted on any side.
struct FeedServer: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "feed-server", abstract: "The feed of `bench sync`, which starts it.",
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

/// The answers to all requests that a client of the feed makes.
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

/// A `FeedServer` that runs; it ends with this.
final class FeedServerProcess {
  /// Of the feed's first page.
  let url: String
  private let process = Process()
  private let input = Pipe()

  init(rows: Int, rowsPerPage: Int, seed: UInt64) throws {
    let output = Pipe()
    process.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
    process.arguments = [
      "feed-server", "--rows", "\(rows)", "--rows-per-page", "\(rowsPerPage)", "--seed", "\(seed)",
    ]
    process.standardInput = input
    process.standardOutput = output
    try process.run()
    var line: [UInt8] = []
    while line.last != UInt8(ascii: "\n") {
      let data = output.fileHandleForReading.availableData
      guard !data.isEmpty else { throw BenchError(.candidate, "the feed's server did not start") }
      line += data
    }
    url = String(decoding: line.dropLast(), as: UTF8.self) + FeedPages.path
  }

  /// Lets it come to its end, and waits for that.
  func stop() throws {
    try input.fileHandleForWriting.close()
    process.waitUntilExit()
  }
}
