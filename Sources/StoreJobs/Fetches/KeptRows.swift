import DurableJobs
import EntityModel
import EntityStore
import Foundation

/// The rows that a job keeps: records of the system entity `_JobOutput`, one for each page, numbered
/// from 0. A page is JSON, a list of rows, each a list of values as `Value` is coded. They go with
/// the job.
struct KeptRows: Sendable {
  private static let entity = "_JobOutput"

  let job: JobID

  func append(_ data: Data, page: Int, in transaction: WriteTransaction) throws {
    try transaction.insert(
      Self.entity,
      ["job": .int64(job.rawValue), "page": .int64(Int64(page)), "rows": .data(data)])
  }

  func removeAll(in transaction: WriteTransaction) throws {
    let request = FetchRequest(
      entityName: Self.entity, predicate: .comparison("job", .equal, .int64(job.rawValue)),
      requiresIndex: true)
    for id in try transaction.fetchIdentifiers(request) { try transaction.delete(id) }
  }

  /// - Returns: `nil` if there is no such page, or none any more.
  func page(_ number: Int, in transaction: ReadTransaction) throws -> [[Value]]? {
    let key: [String: Value] = ["job": .int64(job.rawValue), "page": .int64(Int64(number))]
    guard let record = try transaction.get(Self.entity, by: key),
      case .data(let data) = try record["rows"]
    else { return nil }
    return try JSONDecoder().decode([[Value]].self, from: data)
  }
}
