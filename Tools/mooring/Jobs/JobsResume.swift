import ArgumentParser
import Console
import DurableJobs

struct JobsResume: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "resume", abstract: "Lets the jobs of a paused queue be begun again.")

  @OptionGroup var options: StoreOptions
  @Argument(help: "The queue, such as default.") var queue: String

  func run() async throws {
    let isNew = try await options.jobsToWrite().resume(QueueName(rawValue: queue))
    if options.quiet { return }
    Message.say(isNew ? "the queue \(queue) goes on" : "the queue \(queue) was not paused")
  }
}
