public import EntityStore
import Foundation
public import Logging

/// What a handler has of the job that it runs: who it is, how far it came before, and how to write
/// under its claim.
///
/// Threads: may be used by any number of them at once, until the handler returns.
public struct JobContext: Sendable {
  public let id: JobID
  public let kind: JobKind
  public let queue: QueueName
  /// From 1 on; attempts that did not count are not counted.
  public let attempt: Int
  public let store: Store
  let runnerLogger: Logger
  let payload: Data
  let checkpointData: Data?
  let running: RunningJob

  /// The runner's logger, with the number and the kind of the job.
  public var logger: Logger {
    var logger = runnerLogger
    logger[metadataKey: "job"] = "\(id)"
    logger[metadataKey: "kind"] = "\(kind)"
    return logger
  }

  // MARK: Progress

  /// Says how far the job has come. Cheap: what is said often is stored about twice a second.
  public func report(done: Int64, of total: Int64? = nil, note: String? = nil) {
    running.report(JobProgress(done: done, total: total, note: note))
  }

  // MARK: Writing

  /// Writes under the claim: the closure's changes are committed if and only if the job is still this
  /// attempt's.
  ///
  /// - Throws: `lostClaim`; what the closure throws; as `Store.write`. Nothing was written then.
  @discardableResult
  public func write<R: Sendable>(
    _ body: @escaping @Sendable (WriteTransaction) throws -> R
  ) async throws -> R {
    try await write(checkpointData: nil, body)
  }

  /// Writes under the claim, and with the same commit where the next attempt is to go on.
  ///
  /// A job that gets to a checkpoint in each attempt is never taken for poison, however often its runner
  /// dies.
  @discardableResult
  public func write<R: Sendable>(
    checkpoint: some Encodable, _ body: @escaping @Sendable (WriteTransaction) throws -> R
  ) async throws -> R {
    try await write(checkpointData: try JSONEncoder().encode(checkpoint), body)
  }

  private func write<R: Sendable>(
    checkpointData: Data?, _ body: @escaping @Sendable (WriteTransaction) throws -> R
  ) async throws -> R {
    let claim = running.claim
    return try await store.write(author: "job \(kind)") { transaction in
      let table = try JobTable(transaction)
      guard try table.job(held: claim) != nil else { throw JobError.lostClaim(claim) }
      let result = try body(transaction)
      // Read again, for the closure may have written to the job itself, by cancelling it.
      guard let data = checkpointData, var job = try table.job(held: claim) else { return result }
      job.checkpoint = data
      job.checkpointClaim = job.claims
      try table.update(job)
      return result
    }
  }

  /// Where an earlier attempt has left off; `nil` if it has not said so.
  ///
  /// - Throws: `DecodingError` if the checkpoint is of another type.
  public func checkpoint<C: Decodable>(as type: C.Type = C.self) throws -> C? {
    try checkpointData.map { try JobJSON.decoder.decode(type, from: $0) }
  }

  /// Writes, and ends the job with the same commit: what the closure writes is written exactly once,
  /// whatever dies when. The handler returns what this returns.
  ///
  /// - Throws: As `write`. The job runs on then.
  public func complete<Output: Encodable & Sendable>(
    _ body: @escaping @Sendable (WriteTransaction) throws -> Output
  ) async throws -> Output {
    let claim = running.claim
    let progress = running.takeProgress()
    let output = try await store.write(author: "job \(kind)") { transaction in
      let table = try JobTable(transaction)
      guard try table.job(held: claim) != nil else { throw JobError.lostClaim(claim) }
      let output = try body(transaction)
      if let progress { try table.note(progress, under: claim) }
      guard case .finished = try table.finish(claim, .succeeded(try encode(output))) else {
        throw JobError.lostClaim(claim)
      }
      try table.settle()
      return output
    }
    running.noteCompleted()
    return output
  }

  // MARK: Cancellation

  /// Whether the job was cancelled, its time is up, or the runner stops.
  public var isCancelled: Bool { running.isCancelled }

  /// - Throws: `CancellationError` if so.
  public func checkCancellation() throws {
    if isCancelled { throw CancellationError() }
  }

  // MARK: Coding

  func decode<J: Job>(_ type: J.Type) throws -> J {
    do {
      return try JobJSON.decoder.decode(type, from: payload)
    } catch {
      throw JobStop.discard(because: "the payload cannot be read as \(type): \(error)")
    }
  }

  func encode(_ output: some Encodable) throws -> Data? {
    if output is NoOutput { return nil }
    return try JobJSON.encoder.encode(output)
  }
}

extension JobError {
  static func lostClaim(_ claim: Claim) -> JobError {
    JobError(
      .lostClaim, "the job is not this attempt's any more", [("job", claim.job.description)],
      advice: "nothing was written; another attempt has it, or it has ended")
  }
}
