import DurableJobs
import EntityObjects
import EntityStore
import SystemSupport

extension JobStop {
  /// What a refusal of the store means for a job: another attempt helps against what others do at the
  /// moment, and not against a request that does not fit the store or its records.
  ///
  /// - Returns: Another error as it is: it is a failure, after which the job is tried again.
  static func verdict(on error: any Error) -> any Error {
    switch error {
    case let error as StoreError:
      if error.underlying?.code == .busy { return JobStop.snooze(for: Limits.busyWait) }
      return error.isOfRequest ? JobStop.discard(because: "\(error)") : error
    case is BatchItemError: return JobStop.discard(because: "\(error)")
    default: return error
    }
  }
}

extension StoreError {
  /// Whether the same request is refused as long as nobody changes it or what it is about.
  fileprivate var isOfRequest: Bool {
    switch code {
    case .unknownEntity, .unknownAttribute, .unknownRelationship, .unknownTemplate, .validation,
      .uniqueViolation, .missingRecord, .deletionDenied, .invalidRequest, .requiresIndex,
      .migration, .occupied:
      true
    case .storeMissing, .notAStore, .newerFormat, .schemaMismatch, .needsMigration, .newerSchema,
      .seed, .snapshotExpired, .conflict, .invalidToken, .expiredToken, .closed, .damaged, .storage:
      false
    }
  }
}
