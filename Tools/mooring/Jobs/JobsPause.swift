import ArgumentParser
import Console
import DurableJobs

struct JobsPause: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "pause",
    abstract: "Stops the jobs of a queue from being begun. What runs goes on.")

  @OptionGroup var options: StoreOptions
  @Argument(help: "The queue, such as default.") var queue: String

  func run() async throws {
    let isNew = try await options.jobsToWrite().pause(QueueName(rawValue: queue))
    if options.quiet { return }
    Message.say(isNew ? "the queue \(queue) is paused" : "the queue \(queue) was paused already")
  }
}
