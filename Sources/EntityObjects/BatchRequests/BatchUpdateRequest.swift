public import EntityModel
import EntityStore

/// Changes all records of an entity that match, without handing them to the program.
///
/// Unlike Core Data's it keeps the rules of attributes and relationships, unless it is told to do
/// without, and it can set to-one relationships.
public struct BatchUpdateRequest: Sendable {
  public var entityName: String
  /// `nil` means every record. Asked of each record again when its turn comes.
  public var predicate: FetchPredicate?
  /// By the name of an attribute or a to-one relationship.
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

  /// What makes it the same request: the name of its write is a hash of this.
  var identity: [String] {
    [entityName, predicate?.description ?? "", options.identity]
      + set.sorted { $0.key < $1.key }.flatMap { [$0.key, $0.value.identity] }
  }
}

/// What all batch requests have in common.
public struct BatchRequestOptions: Sendable {
  /// What is not kept to.
  public var without: Set<BatchOption> = []
  /// Who writes; kept with the history.
  public var author: String?
  /// The name under which the progress is kept in the store. By default a hash of the request, so
  /// that the same request goes on where an interrupted one has stopped.
  public var name: String?
  /// Drops what an interrupted run of the same name has reached, and begins anew.
  public var restart = false
  /// Keeps the progress also after the end, so that the same request, run again, does nothing more
  /// and tells the same counts: for who notes the end in a later transaction, and drops it there.
  package var keepsProgress = false
  /// A chunk is committed after so many records, or after so long: other writers wait for it.
  public var chunkRows = 5_000
  public var chunkDuration = Limits.chunkDuration

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
