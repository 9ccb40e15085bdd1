public import EntityModel

/// A record that is read on request: an identity and the store to read it from, without values.
/// Core Data's fault, without its cache: each `load` reads the record's current state.
public struct RecordFault<Element: Sendable>: Sendable, Identifiable {
  public let id: ObjectID
  private let store: Store
  private let source: RecordSource<Element>

  init(_ number: Int64, of source: RecordSource<Element>, in store: Store) {
    id = ObjectID(entity: source.request.entityName, number: number)
    self.store = store
    self.source = source
  }

  /// Reads the current record on a snapshot of its own.
  ///
  /// - Returns: `nil` if there is none with this identity.
  /// - Throws: `unknownEntity`, `damaged`, a storage failure.
  /// - Complexity: O(log *n*).
  public func load() throws -> Element? {
    try store.read { try source.read(CollectionOfOne(id.number), in: $0).first ?? nil }
  }
}

extension Store {
  /// Returns the record with this identity, to be read later. Reads nothing now.
  public func fault(_ id: ObjectID) -> RecordFault<Record> {
    RecordFault(
      id.number, of: RecordSource(FetchRequest(entityName: id.entity)), in: self)
  }

  /// Returns the Swift value with this identity, to be read later.
  ///
  /// - Throws: `invalidRequest` for an identity of another entity.
  public func fault<T: Entity>(_ type: T.Type, _ id: ObjectID) throws -> RecordFault<T> {
    try StoreError.requireEntity(T.entityName, of: id)
    return RecordFault(
      id.number, of: RecordSource(typed: FetchRequest(entityName: id.entity)), in: self)
  }
}
