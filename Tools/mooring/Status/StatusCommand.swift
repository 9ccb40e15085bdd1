import ArgumentParser
import Console
import EntityStore
import FeedSync
import Foundation
import StatusModel
import WorkerService

struct StatusCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "status",
    abstract: "Shows what needs attention, and how the feeds, jobs and the store are doing.",
    discussion: """
      mooring status
      mooring status --check --quiet
      mooring status --format json

      What needs attention comes first, the worst at the top, each with what to do. JSON has \
      everything that the page and `mooring top` show. Reads only.

      --check is for scripts: it prints only what needs attention, and ends with 1 if anything \
      does. Notes do not count.
      """)

  @OptionGroup var options: StoreOptions
  @Flag(help: "Print only what needs attention, and end with 1 if anything does.") var check = false
  @Option(help: "table or json.", completion: .tableOrJSON) var format = OutputFormat.table

  func validate() throws { try format.require(.table, .json) }

  func run() async throws {
    let store = try options.openToRead(options.allSources)
    let status = try StatusReader(ofWorkerOn: store).read()
    let text = StatusText(status)
    if !check { return try format.write(status) { try text.write(to: &$0) } }
    if !options.quiet { try format.write(status.problems) { try text.writeProblems(to: &$0) } }
    if status.needsAttention { throw ExitStatus.needsAttention.exitCode }
  }
}

extension StatusReader {
  /// Returns a reader that uses the settings of this machine's worker.
  init(ofWorkerOn store: Store) throws {
    self.init(store)
    let environment = ProcessInfo.processInfo.environment
    let settings = try WorkerSettings.load(environment: environment).settings
    timing = FeedTiming(interval: settings.syncEvery, jitter: settings.jitter)
    reserveBytes = settings.diskReserve
  }
}
