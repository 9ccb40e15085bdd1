public import EntityModel
public import EntityStore
import SystemSupport

/// A value of a request. It is computed again when something on which it depends has changed.
final class DependentValue<Value: Sendable & Equatable>: LiveObserver {
  private struct State {
    let revision: UInt64
    let sequence: Int64
    let value: Value
  }

  private let request: FetchRequest
  private let readsRows: Bool
  private let compute: @Sendable (ReadTransaction) throws -> Value
  private let state = Locked<State?>(nil)

  init(
    _ request: FetchRequest, readsRows: Bool = false,
    _ compute: @escaping @Sendable (ReadTransaction) throws -> Value
  ) {
    self.request = request
    self.readsRows = readsRows
    self.compute = compute
  }

  func advance(in transaction: ReadTransaction) throws -> Value? {
    let before = state.withLock { $0 }
    let sequence = try transaction.historySequence()
    if let before, try !mayDiffer(from: before, in: transaction) {
      keep(before.value, sequence, transaction)
      return nil
    }
    let value = try compute(transaction)
    keep(value, sequence, transaction)
    return value == before?.value ? nil : value
  }

  private func mayDiffer(from state: State, in transaction: ReadTransaction) throws -> Bool {
    guard state.revision == transaction.catalog.revision else { return true }
    let entity = try transaction.catalog.entity(request.entityName)
    let dependencies = try Dependencies(
      request, readsRows: readsRows, of: entity, in: transaction)
    guard dependencies.unrecorded.isEmpty else { return true }
    let changes = try CommittedChanges(after: state.sequence, for: dependencies, in: transaction)
    return changes.isUnknown || changes.touchesOwn || changes.touchesOthers
  }

  private func keep(_ value: Value, _ sequence: Int64, _ transaction: ReadTransaction) {
    state.withLock {
      $0 = State(revision: transaction.catalog.revision, sequence: sequence, value: value)
    }
  }
}

/// One record. It is returned again when its bytes or the schema have changed.
final class ObservedRecord<T: Sendable>: LiveObserver {
  private struct State {
    /// The content hash of the record; its value is `nil` if there was no record.
    var contentHash: Int64??
    var isEnded = false
  }

  private let id: ObjectID
  private let read: @Sendable (ReadTransaction) throws -> T?
  private let state = Locked(State())

  init(_ id: ObjectID, _ read: @escaping @Sendable (ReadTransaction) throws -> T?) {
    self.id = id
    self.read = read
  }

  var isEnded: Bool { state.withLock { $0.isEnded } }

  func advance(in transaction: ReadTransaction) throws -> T?? {
    let entity = try transaction.catalog.entity(id.entity)
    let view = try transaction.view(of: id.number, in: entity)
    // The same bytes may have another meaning under another schema.
    let hash = view.map {
      ContentHash.of($0.bytes) ^ Int64(bitPattern: transaction.catalog.revision)
    }
    let isNews = state.withLock { state in
      if let before = state.contentHash, before == hash { return false }
      state.contentHash = .some(hash)
      state.isEnded = hash == nil
      return true
    }
    return isNews ? .some(try read(transaction)) : nil
  }
}

extension Store {
  /// Observes the number of records or rows of a request.
  ///
  /// They are counted again only after a commit that changed something on which the count depends.
  public func updates(
    ofCount request: FetchRequest, options: AsynchronousFetchOptions = .init()
  ) -> LiveSequence<Int> {
    LiveSequence(store: self, options: options) {
      DependentValue(request) { try $0.count(request) }
    }
  }

  /// Observes the number of records of a descriptor.
  ///
  /// - Throws: `invalidRequest` for a key path that names no attribute.
  public func updates<T: Entity>(
    ofCount descriptor: FetchDescriptor<T>, options: AsynchronousFetchOptions = .init()
  ) throws -> LiveSequence<Int> {
    updates(ofCount: try descriptor.request(), options: options)
  }

  /// Observes the rows of a request: aggregates, groups, columns.
  ///
  /// ```swift
  /// var request = FetchRequest(entityName: "Team")
  /// request.propertiesToFetch = ["qualifyingZone", .sum("wins", as: "wins")]
  /// request.propertiesToGroupBy = ["qualifyingZone"]
  /// for try await zones in store.updates(ofRows: request) { … }
  /// ```
  public func updates(
    ofRows request: FetchRequest, options: AsynchronousFetchOptions = .init()
  ) -> LiveSequence<[ResultRow]> {
    LiveSequence(store: self, options: options) {
      DependentValue(request, readsRows: true) { try $0.fetchRows(request) }
    }
  }

  /// Observes one record. The element `nil` means that the record does not exist or was deleted; it
  /// is the last one, because no other record gets the same identity.
  public func updates(
    of id: ObjectID, options: AsynchronousFetchOptions = .init()
  ) -> LiveSequence<Record?> {
    LiveSequence(store: self, options: options) { ObservedRecord(id) { try $0.get(id) } }
  }

  /// Observes one record as a Swift value; see `updates(of:options:)`.
  public func updates<T: Entity>(
    of id: ObjectID, as type: T.Type, options: AsynchronousFetchOptions = .init()
  ) -> LiveSequence<T?> {
    LiveSequence(store: self, options: options) { ObservedRecord(id) { try $0.get(type, id) } }
  }
}
