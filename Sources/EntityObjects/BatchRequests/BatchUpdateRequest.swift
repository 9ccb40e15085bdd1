public import EntityModel
import EntityStore

/// Changes all records of an entity that match, without passing them to the program.
///
/// Unlike Core Data's batch update it applies the rules of attributes and relationships, unless the
/// request switches them off, and it can set to-one relationships.
public struct BatchUpdateRequest: Sendable {
  public var entityName: String
  /// The condition on the records; `nil` means every record. It is evaluated again for each record
  /// just before the change.
  public var predicate: FetchPredicate?
  /// The assignments by the name of an attribute or a to-one relationship.
  public var set: [String: AttributeAssignment]
  public var resultType: BatchResultType
  public var options: BatchRequestOptions

  public init(
    _ entityName: String, where predicate: FetchPredicate? = nil,
    set: [String: AttributeAssignment], resultType: BatchResultType = .count,
    options: BatchRequestOptions = BatchRequestOptions()
  ) {
    self.entityName = entityName
    self.predicate = predicate
    self.set = set
    self.resultType = resultType
    self.options = options
  }

  /// The parts that identify the request: the name of its chunked write is a hash of them.
  var identity: [String] {
    [entityName, predicate?.description ?? "", options.identity]
      + set.sorted { $0.key < $1.key }.flatMap { [$0.key, $0.value.identity] }
  }
}

/// The options that all batch requests have in common.
public struct BatchRequestOptions: Sendable {
  /// The checks and effects that are switched off.
  public var without: Set<BatchOption> = []
  /// The author of the transactions, stored in the change history.
  public var author: String?
  /// The name under which the progress is stored. By default it is a hash of the request, so that
  /// the same request continues where an interrupted one has stopped.
  public var name: String?
  /// Deletes the progress of an interrupted run of the same name and starts from the beginning.
  public var restart = false
  /// Keeps the progress also after the end, so that the same request, run again, changes nothing
  /// more and returns the same counts. The caller deletes the progress in the later transaction
  /// that records the end.
  package var keepsProgress = false
  /// The bounds of a chunk in rows and time. Other writers wait while a chunk is written.
  public var chunkRows = 5_000
  public var chunkDuration = StoreLimits.chunkDuration

  public init(
    without: Set<BatchOption> = [], author: String? = nil, name: String? = nil,
    restart: Bool = false
  ) {
    self.without = without
    self.author = author
    self.name = name
    self.restart = restart
  }

  var identity: String { without.map(\.rawValue).sorted().joined(separator: " ") }
}
