import ArgumentParser
import Glibc
import LoopbackHTTP

/// `feed-server`: a home feed of any size, and a folder of feed files, on 127.0.0.1.
struct FeedServerCommand: ParsableCommand {
  @Option(help: "Port to listen on; 0 takes any free one.")
  var port: UInt16 = 0

  @Option(help: "Episodes of the generated feed.")
  var items: Int = 2_000

  @Option(help: "Learning paths of the generated feed (default: items / 80).")
  var paths: Int?

  @Option(help: "The same seed gives the same feed.")
  var seed: UInt64 = 1

  @Option(help: "Items on a page when the client names no limit.")
  var pageSize: Int = 200

  @Option(help: "Serve the files of this folder as well; / lists them.")
  var serve: String?

  @Option(
    help: ArgumentHelp(
      "Give the recorded answers in this folder: NAME.json with its NAME.meta.json.",
      valueName: "dir"))
  var recordings: String?

  static let configuration = CommandConfiguration(
    commandName: "feed-server",
    abstract: "Serves a generated home feed and real feed files on 127.0.0.1.",
    discussion: """
      GET  /v1/home?limit=N[&since=CHECKPOINT]   the feed (homefeed/1), in pages, or its changes
      POST /control/advance?changed=N&added=N&deleted=N&restored=N   makes the feed go on
      POST /control/forget                       makes older checkpoints answer 410
      POST /control/replace                      starts a new epoch

      The first line on stdout is the server's URL. SIGINT and SIGTERM end it.
      """)

  func validate() throws {
    guard 0...10_000_000 ~= items else {
      throw ValidationError("--items must be from 0 to 10000000.")
    }
    guard 0...1_000_000 ~= paths ?? 0 else {
      throw ValidationError("--paths must be from 0 to 1000000.")
    }
    guard 1...FeedService.largestPage ~= pageSize else {
      throw ValidationError("--page-size must be from 1 to \(FeedService.largestPage).")
    }
  }

  /// Serves until SIGINT or SIGTERM.
  func run() throws {
    let folder = try serve.map { path in
      guard let folder = FileFolder(path: path) else {
        throw ValidationError("--serve \(path): not a folder that can be read.")
      }
      return folder
    }
    let answers = try recordings.map { path in
      do {
        let answers = try RecordedAnswers(folder: path)
        if answers.count > 0 { return answers }
      } catch {
        throw ValidationError("--recordings \(path): \(error)")
      }
      throw ValidationError("--recordings \(path): no NAME.meta.json is there.")
    }
    let catalog = Catalog(seed: seed, paths: paths ?? items / 80, episodes: items)
    let service = FeedService(
      history: FeedHistory(catalog: catalog), pageSize: pageSize, folder: folder,
      recordings: answers)

    // Blocked before the server makes its threads, which inherit that: this thread alone hears.
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, SIGINT)
    sigaddset(&signals, SIGTERM)
    pthread_sigmask(SIG_BLOCK, &signals, nil)

    let server = try LoopbackServer(port: port) { try service.handle($0, $1) }
    print(server.url)
    fflush(nil)

    var received: Int32 = 0
    while sigwait(&signals, &received) != 0 {}
    server.stop()
  }
}

@main
enum FeedServer {
  static func main() {
    do {
      try FeedServerCommand.parse().run()
    } catch let error as LoopbackError {
      end("feed-server: \(error)", status: EX_IOERR)
    } catch {
      guard FeedServerCommand.exitCode(for: error) != .success else {
        FeedServerCommand.exit(withError: error)
      }
      end("feed-server: \(FeedServerCommand.message(for: error))", status: EX_USAGE)
    }
  }

  private static func end(_ line: String, status: Int32) -> Never {
    let bytes = Array("\(line)\n".utf8)
    // Where nobody can read the line, the status still tells.
    _ = write(STDERR_FILENO, bytes, bytes.count)
    exit(status)
  }
}
