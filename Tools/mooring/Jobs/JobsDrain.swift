import ArgumentParser
import Console
import DurableJobs

struct JobsDrain: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "drain",
    abstract: "Pauses a queue and waits until none of its jobs runs.",
    discussion: """
      mooring jobs drain default --timeout 5m

      The queue stays paused, also after Ctrl-C and after the time limit, which ends with 75; \
      `mooring jobs resume` resumes it.
      """)

  @OptionGroup var options: StoreOptions
  @Argument(help: "The queue, such as default.", completion: .queue) var queue: String
  @Option(help: ArgumentHelp("Wait no longer than this: 90s, 15m.", valueName: "time"))
  var timeout: String?

  private func bound() throws -> Duration? {
    try timeout.map { try JobArguments.duration($0, "--timeout") }
  }

  func validate() throws { _ = try bound() }

  func run() async throws {
    let jobs = try options.jobsToWrite()
    let (name, bound) = (QueueName(rawValue: queue), try bound())
    let isDrained = try await LongCommand(isQuiet: options.quiet)
      .run(afterInterrupt: "the queue \(queue) stays paused") {
        try await Self.drain(name, in: jobs, bound)
      }
    guard isDrained else {
      throw CommandError(
        .tryAgain,
        "jobs of the queue \(queue) still run; it stays paused, see "
          + "`mooring jobs list --state running --queue \(queue)`")
    }
    if !options.quiet { Message.say("the queue \(queue) is paused, and none of its jobs runs") }
  }

  /// - Returns: True if the queue was drained within the bound.
  private static func drain(
    _ queue: QueueName, in jobs: JobQueue, _ bound: Duration?
  ) async throws -> Bool {
    guard let bound else {
      try await jobs.drain(queue)
      return true
    }
    return try await withThrowingTaskGroup(of: Bool.self) { group in
      group.addTask {
        try await jobs.drain(queue)
        return true
      }
      group.addTask {
        try await Task.sleep(for: bound)
        return false
      }
      defer { group.cancelAll() }
      return try await group.next() ?? false
    }
  }
}
