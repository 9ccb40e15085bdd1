import ArgumentParser
import Console
import DurableJobs
import Foundation
import StoreJobs

/// The options of a job that is enqueued on the command line.
struct JobRequestOptions: ParsableArguments {
  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "What it is to do, as JSON. @FILE reads it from a file, - from standard input.",
      valueName: "json"))
  var payload = "{}"
  @Option(help: "Default: that of the kind, or default.", completion: .queue) var queue: String?
  @Option(
    parsing: .unconditional,
    help: "The larger goes first. Default: that of the kind, or 0.")
  var priority: Int?
  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "How often it may be tried. Default: that of the kind, or 20.", valueName: "number"))
  var attempts: Int?

  /// The kinds that this program has a type for.
  static let types: [any Job.Type] = [
    SyncFeed.self, InsertRecords.self, UpdateRecords.self, DeleteRecords.self, DurableFetch.self,
    ExportFetch.self, BuildIndexes.self, PruneStore.self, CompactStore.self, BackUpStore.self,
    CheckStore.self,
  ]

  /// Returns the request. A kind that this program knows has its own policy, and its payload is
  /// read, so that a mistake is reported now and not by a job that fails.
  ///
  /// - Throws: `CommandError`.
  func request(of kind: String) throws -> JobRequest {
    let data = try PayloadText(payload).data
    let kind = JobKind(rawValue: kind)
    let type = Self.types.first { $0.kind == kind }
    var request =
      try type.map { try Self.request($0, data) } ?? JobRequest(kind: kind, payload: data)
    if let queue { request.queue = QueueName(rawValue: queue) }
    if let priority { request.priority = priority }
    if let attempts { request.attemptsMax = attempts }
    return request
  }

  private static func request<J: Job>(_ type: J.Type, _ payload: Data) throws -> JobRequest {
    let job: J
    do {
      job = try JSONDecoder().decode(type, from: payload)
    } catch let error as DecodingError {
      throw CommandError(
        .usage, "--payload: this is no job of the kind \(J.kind): \(error.reason)")
    }
    return try JobRequest(job)
  }
}

extension DecodingError {
  fileprivate var reason: String {
    switch self {
    case .keyNotFound(let key, _): "\(key.stringValue) is missing"
    case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context):
      context.codingPath.map(\.stringValue).joined(separator: ".") + ": "
        + context.debugDescription
    @unknown default: "\(self)"
    }
  }
}
