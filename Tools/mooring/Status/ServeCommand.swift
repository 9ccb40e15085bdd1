import ArgumentParser
package import Console
import EntityModel
import EntityStore
import Foundation
import Glibc
import StatusModel
import StatusPages
import StoreFigures
import UnixSignals
package import WebServer

struct ServeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "serve",
    abstract: "Shows the store on web pages of this machine, until it is stopped.",
    discussion: """
      mooring serve
      mooring serve --listen 127.0.0.1:8017 --allow-actions
      mooring serve --listen /run/mooring/web.sock

      Without --listen it takes a free port of 127.0.0.1. On TCP a token is always needed, also on \
      this machine: the URL that is printed has it, and a cookie remembers it. A socket is open to \
      its user alone, and needs none; the web server before it has to send the header Host as it \
      got it.

      The pages change nothing unless --allow-actions is given. Actions are in the log with their \
      author: this user, or on a socket the one that the web server names in Remote-User.
      """)

  @OptionGroup var options: StoreOptions
  @Option(help: ArgumentHelp("HOST:PORT, or the path of a socket.", valueName: "address"))
  var listen = "127.0.0.1:0"
  @Option(
    help: ArgumentHelp(
      "Another name by which browsers may address the server; may be repeated.", valueName: "name"))
  var allowHost: [String] = []
  @Flag(help: "Allow retrying, cancelling and pausing jobs, and syncing feeds.")
  var allowActions = false

  func validate() throws { _ = try address() }

  func run() async throws {
    let figures = FigureRecorder()
    let store =
      try allowActions
      ? options.open(observer: figures.fetchObserver) : options.openToRead(options.allSources)
    if allowActions, try store.schema.entity(named: "_Action") == nil {
      throw CommandError(
        .configuration,
        "the store cannot record actions yet; run `mooring migrate up`, or leave out "
          + "--allow-actions")
    }
    let address = try address()
    var random = SystemRandomNumberGenerator()
    let access = Access(allowedHosts: allowHost, using: &random)
    let site = StatusSite(
      store, try StatusReader(ofWorkerOn: store), options: siteOptions(access, address))
    let server = try WebServer(.init(address, access)) { site.answer($0) }
    defer { server.stop() }
    if let url = access.url(at: server.address) {
      Message.say("the pages are at \(url)")
    } else {
      Message.say("the pages are at the socket \(server.address)")
    }
    let recordsFetches = allowActions
    try await untilStopped {
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await Self.publishCommits(of: store, to: site) }
        if recordsFetches { group.addTask { try await Self.recordFetches(figures, store) } }
        defer { group.cancelAll() }
        try await group.next()
      }
    }
  }

  /// Writes the slow fetches of the pages to the store once a minute.
  private static func recordFetches(_ figures: FigureRecorder, _ store: Store) async throws {
    while true {
      try await Task.sleep(for: .seconds(60))
      do {
        _ = try await figures.flush(to: store)
      } catch let error as StoreError where error.passes {
        // They are written a minute later.
      }
    }
  }

  private func siteOptions(_ access: Access, _ address: WebAddress) -> StatusSite.Options {
    var site = StatusSite.Options()
    site.csrf = allowActions ? access.csrf : nil
    site.author = NSUserName()
    if case .unix = address { site.trustsRemoteUser = true }
    return site
  }

  private func address() throws -> WebAddress {
    if listen.contains("/") { return .unix(path: listen) }
    guard let colon = listen.lastIndex(of: ":"),
      let port = UInt16(listen[listen.index(after: colon)...]), colon != listen.startIndex
    else {
      throw ValidationError(
        "--listen: \"\(listen)\" is no address; write 127.0.0.1:8017, [::1]:8017 or a path with /")
    }
    let host = listen[..<colon].trimmingCharacters(in: ["[", "]"])
    return .tcp(host: host, port: port)
  }

  /// Runs a task until the process is asked to end, or the task fails.
  private func untilStopped(_ task: @escaping @Sendable () async throws -> Void) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await task() }
      group.addTask {
        for await _ in await UnixSignalsSequence(trapping: .sigterm, .sigint, .sighup) { return }
      }
      defer { group.cancelAll() }
      try await group.next()
    }
  }

  /// Lets the open pages load again after commits, at most once a second, and at least each quarter
  /// of a minute: times and processes change without commits.
  private static func publishCommits(of store: Store, to site: StatusSite) async throws {
    let commits = try store.commits.observe()
    var seen = 0
    while true {
      seen = try await commits.next(after: seen, within: .seconds(15))
      if site.changes.subscriberCount > 0 { site.changes.publish("change", "\(seen)") }
      try await Task.sleep(for: .seconds(1))
    }
  }
}

extension WebServerError: ExitStatusProviding {
  package var exitStatus: ExitStatus {
    switch code {
    case .libraryMissing: .unavailable
    default: .cannotCreate
    }
  }
}
