public import EntityModel
import EntityStore

/// Deletes all records of an entity that match, without handing them to the program.
///
/// Delete rules are followed, unless the request says to do without: what a record takes along
/// goes, what a rule keeps stops the batch. Records that are to be deleted keep no others of them.
public struct BatchDeleteRequest: Sendable {
  /// Which records.
  public enum Target: Sendable {
    /// All that match; `nil` means every record. Asked of each again when its turn comes.
    case matching(entity: String, FetchPredicate?)
    /// These, of one entity. One that is not there is passed over.
    case records([ObjectID])
  }

  public var target: Target
  public var resultType: BatchResultType
  public var options: BatchRequestOptions

  public init(
    _ entityName: String, where predicate: FetchPredicate? = nil,
    resultType: BatchResultType = .count, options: BatchRequestOptions = BatchRequestOptions()
  ) {
    target = .matching(entity: entityName, predicate)
    self.resultType = resultType
    self.options = options
  }

  public init(
    _ records: [ObjectID], resultType: BatchResultType = .count,
    options: BatchRequestOptions = BatchRequestOptions()
  ) {
    target = .records(records)
    self.resultType = resultType
    self.options = options
  }

  /// The entity; `nil` for no records.
  ///
  /// - Throws: `invalidRequest` for records of several entities.
  func entityName() throws(StoreError) -> String? {
    switch target {
    case .matching(let entity, _): return entity
    case .records(let records):
      let entity = records.first?.entity
      guard let other = records.first(where: { $0.entity != entity }) else { return entity }
      throw StoreError(
        .invalidRequest, "a batch deletes records of one entity",
        [("first", records.first?.description ?? ""), ("other", other.description)],
        advice: "make a request for each entity")
    }
  }

  /// What makes it the same request: the name of its write is a hash of this.
  var identity: [String] {
    switch target {
    case .matching(let entity, let predicate):
      ["where", entity, predicate?.description ?? "", options.identity]
    case .records(let records):
      ["records", options.identity] + Set(records).map(\.description).sorted()
    }
  }
}
