import DurableJobs
import EntityModel
import EntityStore
import Foundation

/// The stored rows of a job: records of the system entity `_JobOutput`, one for each page, numbered
/// from
/// 0. A page is JSON: a list of rows, each a list of values in the coding of `Value`. The pages are
/// removed with the job.
struct JobOutputPages: Sendable {
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

  /// Returns the rows of a page, or `nil` if the page does not exist.
  func page(_ number: Int, in transaction: ReadTransaction) throws -> [[Value]]? {
    let key: [String: Value] = ["job": .int64(job.rawValue), "page": .int64(Int64(number))]
    guard let record = try transaction.get(Self.entity, by: key),
      case .data(let data) = try record["rows"]
    else { return nil }
    return try JSONDecoder().decode([[Value]].self, from: data)
  }
}
