public import DurableJobs
import EntityObjects
import EntityStore
import SystemSupport

extension JobStop {
  /// Returns the error with which a job ends after an error of the store. A job steps back while
  /// another process is busy, and is discarded if its request does not fit the store or its
  /// records. Any other error is returned as it is: a failure, after which the job is tried again.
  static func verdict(on error: any Error) -> any Error {
    switch error {
    case let error as StoreError:
      if error.code == .busy { return JobStop.snooze(for: Limits.busyWait) }
      return error.isOfRequest ? JobStop.discard(because: "\(error)") : error
    case is BatchItemError: return JobStop.discard(because: "\(error)")
    default: return error
    }
  }
}

extension StoreError {
  /// True if the same request fails again unless the request or the store is changed.
  fileprivate var isOfRequest: Bool {
    switch code {
    case .unknownEntity, .unknownAttribute, .unknownRelationship, .unknownTemplate, .validation,
      .uniqueViolation, .missingRecord, .deletionDenied, .invalidRequest, .requiresIndex,
      .migration, .occupied:
      true
    case .storeMissing, .notAStore, .newerFormat, .schemaMismatch, .needsMigration, .newerSchema,
      .seed, .snapshotExpired, .conflict, .invalidToken, .expiredToken, .closed, .damaged, .busy,
      .readersFull, .diskFull, .mapFull, .readOnly, .notPermitted, .notAFolder, .inputOutput,
      .needsCommitLog, .unreachable, .diverged, .notHereYet, .unknownOutcome, .storage:
      false
    }
  }
}

extension QueueName {
  /// The queue of syncs. A limit of this queue limits the use of the network.
  public static let sync: QueueName = "sync"
  /// The queue of the maintenance of the store.
  public static let maintenance: QueueName = "maintenance"
}

extension KeyedDecodingContainer {
  /// Decodes a value that a payload written by hand may leave out.
  func value<T: Decodable>(_ key: Key, otherwise: T) throws -> T {
    try decodeIfPresent(T.self, forKey: key) ?? otherwise
  }
}
