import ArgumentParser
import Console
import DurableJobs

struct JobsPause: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "pause",
    abstract: "Pauses a queue: its jobs do not start. Running jobs continue.",
    discussion: """
      mooring jobs pause default
      """)

  @OptionGroup var options: StoreOptions
  @Argument(help: "The queue, such as default.", completion: .queue) var queue: String

  func run() async throws {
    let isNew = try await options.jobsToWrite().pause(QueueName(rawValue: queue))
    if options.quiet { return }
    Message.say(isNew ? "the queue \(queue) is paused" : "the queue \(queue) was paused already")
  }
}

struct JobsResume: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "resume", abstract: "Resumes a paused queue: its jobs start again.",
    discussion: """
      mooring jobs resume default
      """)

  @OptionGroup var options: StoreOptions
  @Argument(help: "The queue, such as default.", completion: .queue) var queue: String

  func run() async throws {
    let isNew = try await options.jobsToWrite().resume(QueueName(rawValue: queue))
    if options.quiet { return }
    Message.say(isNew ? "the queue \(queue) is resumed" : "the queue \(queue) was not paused")
  }
}
