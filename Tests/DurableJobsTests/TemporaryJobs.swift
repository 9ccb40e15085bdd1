import DurableJobs
import EntityStore
import TestSupport

/// Runs `body` with a new store that has jobs. Its clock advances only when the test sets it.
///
/// - Throws: What `body` throws; `StoreNotClean`; `JobsNotClean` if the jobs do not pass their
///   check at the end.
func withTemporaryJobs<R>(
  seed: UInt64 = 1, isolation: isolated (any Actor)? = #isolation,
  _ body: (TemporaryStore) async throws -> R
) async throws -> R {
  try await withTemporaryStore(seed: seed, migrations: [.model, .jobs]) { temporary in
    let result = try await body(temporary)
    let report = try JobQueue(temporary.store).check()
    guard report.isClean else { throw JobsNotClean(problems: report.problems) }
    return result
  }
}

/// Jobs that were not as they must be at the end of a test.
struct JobsNotClean: Error { let problems: [String] }
