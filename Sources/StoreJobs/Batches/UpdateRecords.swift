public import DurableJobs
public import EntityModel
public import EntityObjects
import EntityStore

/// Updates all matching records of an entity (`BatchUpdateRequest`), in chunks between which others
/// can write.
///
/// Each record is updated once, whatever interrupts the job. If a record cannot be updated, the job
/// is discarded; what was committed stays, and `JobQueue.retry` continues with that record.
public struct UpdateRecords: Job, Hashable {
  public typealias Output = BatchReport
  public static let kind: JobKind = "batch.update"
  public static let policy = JobPolicy(attemptsMax: 5)

  public var entity: String
  /// `nil` means every record.
  public var predicate: FetchPredicate?
  /// The new values by attribute or to-one relationship: expressions about the record before the
  /// update.
  public var set: [String: FetchExpression]
  /// The attributes that are set to the time at which the batch request began.
  public var setNow: [String]
  /// The options that are switched off.
  public var without: [BatchOption]
  /// The author of the changes in the history.
  public var author: String

  public init(
    _ entity: String, where predicate: FetchPredicate? = nil, set: [String: AttributeAssignment],
    without: [BatchOption] = [], author: String = "batch"
  ) {
    self.entity = entity
    self.predicate = predicate
    self.set = [:]
    setNow = []
    self.without = without
    self.author = author
    for (name, assignment) in set.sorted(by: { $0.key < $1.key }) {
      switch assignment {
      case .expression(let expression): self.set[name] = expression
      case .now: setNow.append(name)
      }
    }
  }

  /// Decodes a payload, in which only `entity` is required.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    entity = try container.decode(String.self, forKey: .entity)
    predicate = try container.decodeIfPresent(FetchPredicate.self, forKey: .predicate)
    set = try container.value(.set, otherwise: [:])
    setNow = try container.value(.setNow, otherwise: [])
    without = try container.value(.without, otherwise: [])
    author = try container.value(.author, otherwise: "batch")
  }
}

extension UpdateRecords {
  func run(_ context: JobContext) async throws -> BatchReport {
    guard !set.isEmpty || !setNow.isEmpty else {
      throw JobStop.discard(because: "the update sets nothing; name attributes in set or setNow")
    }
    if let twice = setNow.first(where: { set[$0] != nil }) {
      throw JobStop.discard(because: "\(twice) is in set and in setNow; leave one out")
    }
    let work = BatchWork(context: context, entity: entity, without: without, author: author)
    return try await work.run { options, progress in
      try await context.store.execute(
        BatchUpdateRequest(entity, where: predicate, set: assignments, options: options),
        progress: progress)
    }
  }

  private var assignments: [String: AttributeAssignment] {
    var assignments = set.mapValues(AttributeAssignment.expression)
    for name in setNow { assignments[name] = .now }
    return assignments
  }
}
