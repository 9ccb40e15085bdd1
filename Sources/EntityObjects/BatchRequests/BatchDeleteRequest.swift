public import EntityModel
import EntityStore

/// Deletes all records of an entity that match, without passing them to the program.
///
/// Delete rules apply unless the request switches them off: a `cascade` rule deletes further
/// records, and a `deny` rule stops the batch. Links between records that are both to be deleted
/// deny nothing.
public struct BatchDeleteRequest: Sendable {
  /// The records to delete.
  public enum Target: Sendable {
    /// All records that match; `nil` means every record. The predicate is evaluated again for each
    /// record just before it is deleted.
    case matching(entity: String, FetchPredicate?)
    /// The records with these identities, all of one entity. Missing ones are skipped.
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

  /// Returns the entity; `nil` for an empty list of records.
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

  /// The parts that identify the request: the name of its chunked write is a hash of them.
  var identity: [String] {
    switch target {
    case .matching(let entity, let predicate):
      ["where", entity, predicate?.description ?? "", options.identity]
    case .records(let records):
      ["records", options.identity] + Set(records).map(\.description).sorted()
    }
  }
}
