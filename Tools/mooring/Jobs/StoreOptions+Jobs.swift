import Console
import DurableJobs
import EntityStore

extension StoreOptions {
  /// The jobs of a store that is there, to look at them.
  func jobsToRead() throws -> JobQueue { try jobs(of: try openToRead()) }

  /// The jobs of a store that is there, to change them.
  func jobsToWrite() throws -> JobQueue { try jobs(of: try open()) }

  private func jobs(of store: Store) throws -> JobQueue {
    guard try store.hasJobs else {
      throw CommandError(
        .configuration, "the store \(folder) has no jobs yet; run `mooring migrate up`")
    }
    return JobQueue(store)
  }

  /// Prints a warning if no runner is there that would run a job of a kind.
  func warnIfNobodyRuns(_ kind: String, in queue: JobQueue) throws {
    if quiet { return }
    let runners = try queue.runners().filter(\.claimsJobs)
    if runners.isEmpty {
      Message.say("no worker is running; start one with `mooring worker`")
    } else if !runners.contains(where: { $0.kinds.contains(kind) }) {
      Message.say("no worker that is running knows jobs of the kind \(kind)")
    }
  }
}
