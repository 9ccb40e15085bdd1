public import EntityModel
public import EntityStore

/// The results of a request and their changes: Core Data's fetched results controller as an
/// asynchronous sequence. Each element has the new results and the difference from the previous
/// ones. Limit and offset apply to every version.
///
/// All rows of a version up to its limit are in memory; versions share what is equal in both.
///
/// ```swift
/// for try await update in try store.results(of: descriptor, sectionBy: \.type) {
///   for change in update.changes.rows { print(change) }
/// }
/// ```
public typealias LiveResults<T: Sendable> = LiveSequence<ResultsUpdate<T>>

/// One step of live results.
public struct ResultsUpdate<T: Sendable>: Sendable {
  public let snapshot: ResultsSnapshot<T>
  /// The difference from the previous snapshot; empty for the first one.
  public let changes: ResultsDifference<T>
  public let origin: Origin

  /// The way in which the step was computed.
  public enum Origin: Sendable, Hashable {
    /// The first version; there was none before.
    case first
    /// Computed from the changed records, in O(log *n*) each.
    case changes
    /// All rows were fetched again and compared.
    case fetched(Reason)
  }

  /// The reason for which all rows were fetched again.
  public enum Reason: String, Sendable, Hashable, CaseIterable {
    /// A record has changed to which the predicate, the order or the sections lead by a
    /// relationship.
    case relationship
    /// An entity on which the results depend has no change history. All rows are then fetched after
    /// every commit.
    case noHistory
    /// The history no longer reaches back to the previous step, or a write left changes out.
    case historyIncomplete
    /// Too many records have changed since the previous step to process them one by one.
    case manyChanges
    /// More rows have left the window than were in memory after it.
    case windowEmptied
    case schemaChanged
  }
}

extension LiveRequest {
  /// Checks that the request can be observed.
  ///
  /// - Throws: `invalidRequest` for a request that cannot be observed.
  func check() throws(StoreError) {
    let request = source.request
    if request.isGrouped {
      throw StoreError(
        .invalidRequest, "live results are of records, and a grouped request has rows",
        [("entity", request.entityName)], advice: "observe it with updates(ofRows:)")
    }
    if let path = request.relationshipKeyPathsForPrefetching.first {
      throw StoreError(
        .invalidRequest, "live results cannot prefetch",
        [("entity", request.entityName), ("relationship", path)],
        advice: "observe the related records by themselves")
    }
    guard let sectionPath else { return }
    guard let first = request.sortBy.first, first.path == sectionPath else {
      throw StoreError(
        .invalidRequest, "the rows of a section must be adjacent",
        [("entity", request.entityName), ("sections", sectionPath)],
        advice: "sort by \(sectionPath) first")
    }
    if first.collation != .binary {
      throw StoreError(
        .invalidRequest, "sections are distinguished by their exact values",
        [("entity", request.entityName), ("sort", first.description)],
        advice: "sort by \(sectionPath) without a collation first")
    }
  }
}

extension Store {
  /// Observes the records of a request.
  ///
  /// - Parameter sectionBy: The path whose values divide the results into sections; the first sort
  ///   key must be the same.
  /// - Throws: `invalidRequest` for a request that cannot be observed. Other errors of the request
  ///   are thrown by the first call of the iterator.
  public func results(
    of request: FetchRequest, sectionBy: String? = nil, options: AsynchronousFetchOptions = .init()
  ) throws -> LiveResults<Record> {
    try results(LiveRequest(source: RecordSource(request), sectionPath: sectionBy), options)
  }

  /// Observes the values of a descriptor.
  ///
  /// - Throws: `invalidRequest` for a key path that names no attribute, and for a request that
  ///   cannot be observed.
  public func results<T: Entity>(
    of descriptor: FetchDescriptor<T>, options: AsynchronousFetchOptions = .init()
  ) throws -> LiveResults<T> {
    try results(LiveRequest(source: RecordSource(descriptor), sectionPath: nil), options)
  }

  /// Observes the values of a descriptor, divided into sections.
  ///
  /// - Throws: `invalidRequest` for a key path that names no attribute, and for a request that
  ///   cannot be observed.
  public func results<T: Entity, V>(
    of descriptor: FetchDescriptor<T>, sectionBy: any KeyPath<T, V> & Sendable,
    options: AsynchronousFetchOptions = .init()
  ) throws -> LiveResults<T> {
    let path = try T.propertyName(of: sectionBy)
    return try results(
      LiveRequest(source: RecordSource(descriptor), sectionPath: path), options)
  }

  private func results<T>(
    _ request: LiveRequest<T>, _ options: AsynchronousFetchOptions
  ) throws -> LiveResults<T> {
    try request.check()
    return LiveSequence(store: self, options: options) { LiveQuery(request) }
  }
}
