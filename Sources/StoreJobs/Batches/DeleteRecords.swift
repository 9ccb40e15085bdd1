public import DurableJobs
public import EntityModel
public import EntityObjects
import EntityStore

/// Deletes all matching records of an entity (`BatchDeleteRequest`), in chunks between which others
/// can write. An interrupted job continues. If a rule denies the deletion of a record, the job is
/// discarded, and the records before it stay deleted.
public struct DeleteRecords: Job, Hashable {
  public typealias Output = BatchReport
  public static let kind: JobKind = "batch.delete"
  public static let policy = JobPolicy(attemptsMax: 5)

  public var entity: String
  /// `nil` means every record.
  public var predicate: FetchPredicate?
  /// The options that are switched off.
  public var without: [BatchOption]
  /// The author of the changes in the history.
  public var author: String

  public init(
    _ entity: String, where predicate: FetchPredicate?, without: [BatchOption] = [],
    author: String = "batch"
  ) {
    self.entity = entity
    self.predicate = predicate
    self.without = without
    self.author = author
  }

  /// Decodes a payload, in which `entity` and `predicate` are required: a predicate that was left
  /// out by mistake must not delete everything.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    entity = try container.decode(String.self, forKey: .entity)
    predicate = try container.decode(FetchPredicate?.self, forKey: .predicate)
    without = try container.value(.without, otherwise: [])
    author = try container.value(.author, otherwise: "batch")
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(entity, forKey: .entity)
    // Also if it is null.
    try container.encode(predicate, forKey: .predicate)
    try container.encode(without, forKey: .without)
    try container.encode(author, forKey: .author)
  }

  private enum CodingKeys: String, CodingKey { case entity, predicate, without, author }
}

extension DeleteRecords {
  func run(_ context: JobContext) async throws -> BatchReport {
    let work = BatchWork(context: context, entity: entity, without: without, author: author)
    return try await work.run { options, progress in
      try await context.store.execute(
        BatchDeleteRequest(entity, where: predicate, options: options), progress: progress)
    }
  }
}
