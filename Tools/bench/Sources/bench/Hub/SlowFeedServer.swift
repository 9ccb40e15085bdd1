import ArgumentParser
import Foundation
import LoopbackHTTP

/// Serves small feeds on 127.0.0.1 until its standard input ends, each answer after a time. Any
/// name that ends with `.localhost` leads to it.
struct SlowFeedServer: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "slow-feed-server", abstract: "Serves the feeds for `bench hub`.",
    shouldDisplay: false)

  /// The items of each feed.
  static let items = 5

  @Option var answerAfter: Double

  func run() throws {
    let server = try LoopbackServer { [answerAfter] request, connection in
      Thread.sleep(forTimeInterval: answerAfter)
      try connection.send(
        Response(
          // Otherwise each host would keep a connection.
          headers: [("Content-Type", "application/feed+json"), ("Connection", "close")],
          body: Array(Self.feed(at: request.target).utf8)))
    }
    FileHandle.standardOutput.write(Data("\(server.url)\n".utf8))
    while readLine() != nil {}
    server.stop()
  }

  private static func feed(at target: String) -> String {
    let items = (1...items).map { number in
      """
      {"id":"\(target)-\(number)","title":"Item \(number)","content_text":"Text",\
      "url":"https://example.org\(target)/\(number)","date_published":"2026-01-01T00:00:00Z"}
      """
    }
    return """
      {"version":"https://jsonfeed.org/version/1.1","title":"\(target)",\
      "items":[\(items.joined(separator: ","))]}
      """
  }

  /// A process that runs the server.
  struct Running {
    private let process: FeedServerProcess
    private let port: Int

    init(answerAfter: Duration) throws {
      process = try FeedServerProcess(
        arguments: ["slow-feed-server", "--answer-after", "\(answerAfter.seconds)"], path: "")
      guard let port = URL(string: process.url)?.port else {
        throw BenchError(.candidate, "the feed server has no port: \(process.url)")
      }
      self.port = port
    }

    /// Returns the URL of a feed, on a host of its own.
    func url(_ feed: Int) -> String { "http://feed-\(feed).localhost:\(port)/\(feed)" }

    func stop() throws { try process.stop() }
  }
}
