public import EntityStore
import Foundation
public import Logging

/// The job that a handler runs: its identity, its checkpoint, and writes under its claim.
///
/// Any number of threads may use it at once, until the handler returns.
public struct JobContext: Sendable {
  public let id: JobID
  public let kind: JobKind
  public let queue: QueueName
  /// The number of the attempt, from 1 on, without attempts that do not count.
  public let attempt: Int
  public let store: Store
  let runnerLogger: Logger
  let payload: Data
  let checkpointData: Data?
  let running: RunningJob

  /// The runner's logger, with the id and the kind of the job as metadata.
  public var logger: Logger {
    var logger = runnerLogger
    logger[metadataKey: "job"] = "\(id)"
    logger[metadataKey: "kind"] = "\(kind)"
    return logger
  }

  // MARK: Progress

  /// Reports the progress of the job. Cheap: the latest report is stored about twice a second.
  public func report(done: Int64, of total: Int64? = nil, note: String? = nil) {
    running.report(JobProgress(done: done, total: total, note: note))
  }

  // MARK: Writing

  /// Writes under the claim: the changes of the closure are committed only if the claim of this
  /// attempt is still valid.
  ///
  /// - Throws: `lostClaim`; the errors of the closure and of `Store.write`. Nothing is written
  ///   then.
  @discardableResult
  public func write<R: Sendable>(
    _ body: @escaping @Sendable (WriteTransaction) throws -> R
  ) async throws -> R {
    try await write(checkpointData: nil, body)
  }

  /// Writes under the claim, and stores a checkpoint for the next attempt with the same commit.
  ///
  /// A job that stores a checkpoint in each attempt is never poisoned, however often its runner
  /// dies.
  ///
  /// - Throws: `lostClaim`; the errors of the closure and of `Store.write`. Nothing is written
  ///   then.
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
      // Read again: the closure may have changed the job, for example by cancelling it.
      guard let data = checkpointData, var job = try table.job(held: claim) else { return result }
      job.set(.checkpoint, data)
      job.set(.checkpointClaim, job.claims)
      try table.update(job)
      return result
    }
  }

  /// Returns the checkpoint that an earlier attempt has stored, or `nil` if there is none.
  ///
  /// - Throws: `DecodingError` if the checkpoint is of another type.
  public func checkpoint<C: Decodable>(as type: C.Type = C.self) throws -> C? {
    try checkpointData.map { try JobJSON.decoder.decode(type, from: $0) }
  }

  /// Writes, and ends the job with the same commit: the changes of the closure are written exactly
  /// once, whatever dies when. The handler must return the output that this returns.
  ///
  /// - Throws: The same as `write`. The job is still running then.
  public func complete<Output: Encodable & Sendable>(
    _ body: @escaping @Sendable (WriteTransaction) throws -> Output
  ) async throws -> Output {
    let claim = running.claim
    let progress = running.takeProgress()
    let output = try await store.write(author: "job \(kind)") { transaction in
      let table = try JobTable(transaction)
      guard try table.job(held: claim) != nil else { throw JobError.lostClaim(claim) }
      let output = try body(transaction)
      if let progress { try table.store(progress, under: claim) }
      guard case .finished = try table.finish(claim, .succeeded(try encode(output))) else {
        throw JobError.lostClaim(claim)
      }
      try table.addAggregates()
      return output
    }
    running.markCompleted()
    return output
  }

  // MARK: Cancellation

  /// True if the job was cancelled, has exceeded its timeout, or the runner stops.
  public var isCancelled: Bool { running.isCancelled }

  /// - Throws: `CancellationError` if `isCancelled` is true.
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
