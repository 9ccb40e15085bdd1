import DurableJobs
import EntityModel
import EntityStore
import Foundation
import Migrations
import TestSupport

extension PreparedWork {
  /// Jobs that are enqueued by one process, and run by another one.
  static func jobs(in root: String) async throws -> PreparedWork {
    let count = 12
    _ = try openJobs(root + "/store", migrate: .ifEmpty)
    return PreparedWork { recorder, settings in
      try recorder.run(["jobs-enqueue", recorder.path("store"), "to=\(count)"] + settings)
      try recorder.run(
        ["jobs-run", recorder.path("store"), "slots=2", "ends=\(count)"] + settings)
    } problems: { image, acknowledged in
      let folder = image + "/store"
      try requireUndamaged(folder)
      let store = try openJobs(folder, migrate: .never)
      let queue = JobQueue(store)
      let jobs = try queue.list()
      var numbers: [Int: JobStatus] = [:]
      for job in jobs {
        let number = job.payload.split { !$0.isNumber }.first.flatMap { Int($0) }
        numbers[number ?? -1] = job
      }
      let enqueued = acknowledged.words(after: "enqueued").compactMap { Int($0[0]) }
      var problems = enqueued.filter { numbers[$0] == nil }.map { "job \($0) is lost" }
      for end in acknowledged.words(after: "end") {
        let job = jobs.first { "\($0.id)" == end[0] }
        if job?.state.rawValue != end[1] {
          problems.append("\(end) has the state \(job?.state.rawValue ?? "lost")")
        }
      }
      // A job and its effect are one commit.
      for (number, job) in numbers {
        let effect = try store.read {
          try $0.get("Sample", by: ["name": .string("effect \(number)")])
        }
        if (effect != nil) != (job.state == .succeeded) {
          problems.append("job \(number) is \(job.state), its effect is not")
        }
      }
      _ = try await queue.enqueue(JobRequest(kind: "effect", payload: Data("{}".utf8)))
      try requireClean(store)
      try requireWholePages(store)
      return problems
    }
  }

  private static func openJobs(_ folder: String, migrate: Store.MigrationPolicy) throws -> Store {
    try openStore(at: folder, migrations: [.model, .jobs], migrate: migrate)
  }
}
