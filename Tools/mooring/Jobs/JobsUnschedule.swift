import ArgumentParser
import Console
import DurableJobs

struct JobsUnschedule: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "unschedule", abstract: "Removes a schedule. The jobs that it has made stay.")

  @OptionGroup var options: StoreOptions
  @Argument(help: "The schedule's name.") var name: String

  func run() async throws {
    try await options.jobsToWrite().removeSchedule(name)
    if !options.quiet { Message.say("the schedule \(name) is removed") }
  }
}
