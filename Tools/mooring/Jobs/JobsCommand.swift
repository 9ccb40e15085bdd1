import ArgumentParser
public import Console
public import DurableJobs

struct JobsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "jobs",
    abstract: "Lists, enqueues and controls the jobs of the store.",
    discussion: """
      Jobs are run by `mooring worker`, and by programs that use the library. Changes by these \
      verbs take effect in running workers at once.
      """,
    subcommands: [
      JobsList.self, JobsShow.self, JobsStats.self, JobsWatch.self, JobsEnqueue.self,
      JobsRetry.self, JobsCancel.self, JobsPause.self, JobsResume.self, JobsDrain.self,
      JobsPrune.self, JobsRunners.self, JobsSchedules.self, JobsSchedule.self,
      JobsUnschedule.self,
    ])
}

extension JobError: ExitStatusProviding {
  public var exitStatus: ExitStatus {
    switch code {
    case .unknownJob, .unknownSchedule, .unknownGroup, .unknownKind, .wrongState: .unavailable
    case .unknownQueue, .invalidRequest, .invalidSchedule: .usage
    case .badPayload, .duplicate, .failed, .cancelled, .poisoned, .timedOut: .badData
    case .lostClaim, .lostRunner, .busy, .notFinished: .tryAgain
    case .foreignHost: .configuration
    }
  }
}
