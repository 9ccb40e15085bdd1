public import DurableJobs
import EntityStore
import Maintenance

/// Checks the whole store (`Store.check`), while others read and write. Changes nothing.
///
/// Damage is a result and not a failure: the job succeeds with a report of the problems. A check
/// that has begun cannot be cancelled.
public struct CheckStore: Job, Hashable {
  public static let kind: JobKind = "store.check"
  public static let policy = JobPolicy(queue: .maintenance, attemptsMax: 3)

  /// The result of the check.
  public struct Output: Codable, Hashable, Sendable {
    public var isClean: Bool
    public var pages: Int
    /// 0, like the next three, if the pages or the catalog are damaged: records are not checked
    /// then.
    public var entities: Int
    public var records: Int
    public var entries: Int
    public var transactions: Int
    public var problemCount: Int
    /// The first problems, one line each.
    public var problems: [String]

    init(_ report: StoreReport) {
      let integrity = report.integrity
      isClean = report.isClean
      pages = report.pages.total
      entities = integrity?.entities ?? 0
      records = integrity?.records ?? 0
      entries = integrity?.entries ?? 0
      transactions = integrity?.historyTransactions ?? 0
      problemCount = report.problemCount + (integrity?.problemCount ?? 0)
      problems = Array(
        (report.problems + (integrity?.problems.map(\.description) ?? []))
          .prefix(Limits.problemsListedMax))
    }
  }

  public init() {}

  public var uniqueKey: String? { "store" }
}

extension CheckStore {
  /// Blocks.
  func run(_ context: JobContext) throws -> Output {
    try context.checkCancellation()
    context.report(done: 0, note: "checking")
    do {
      let report = try Store.check(at: context.store.folder)
      RecordedCheck.record(report, at: context.store.now(), inStore: context.store.folder)
      let output = Output(report)
      let found = output.isClean ? "clean" : "problems found: \(output.problemCount)"
      context.report(done: 1, of: 1, note: found)
      return output
    } catch {
      throw JobStop.verdict(on: error)
    }
  }
}
