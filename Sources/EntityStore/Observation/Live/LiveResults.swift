public import EntityModel

/// The results of a request as they are, and as they become: Core Data's fetched results controller
/// as a sequence.
///
/// The first element is the results as of now; each further one comes after a commit that changed
/// them, of this process or of another one, with the new results and what turned the old ones into
/// them. Limit and offset hold throughout. Commits that come faster than the elements are asked for
/// are one step together; nothing is queued, and whoever never asks costs nothing.
///
/// The rows of a version are in memory, all of them where there is no limit; versions share what is
/// equal in both.
///
/// Each iteration is an observer of its own. It ends with `nil` when the store is closed, with
/// `CancellationError` when its task is cancelled, and with an error when the store cannot be read.
///
/// ```swift
/// for try await update in try store.results(of: descriptor, sectionBy: \.type) {
///   for change in update.changes.rows { print(change) }
/// }
/// ```
public struct LiveResults<T: Sendable>: AsyncSequence, Sendable {
  private let store: Store
  private let request: LiveRequest<T>
  private let options: AsynchronousFetchOptions

  init(
    _ store: Store, _ request: LiveRequest<T>, _ options: AsynchronousFetchOptions
  ) throws(StoreError) {
    try request.check()
    self.store = store
    self.request = request
    self.options = options
  }

  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(source: LiveSource(store, LiveQuery(request), options))
  }

  public struct AsyncIterator: AsyncIteratorProtocol {
    fileprivate let source: LiveSource<ResultsUpdate<T>>

    /// - Throws: As a fetch of the request; `CancellationError`.
    public mutating func next() async throws -> ResultsUpdate<T>? { try await source.next() }
  }
}

/// One step of live results.
public struct ResultsUpdate<T: Sendable>: Sendable {
  public let snapshot: ResultsSnapshot<T>
  /// What turns the snapshot before into this one; of the first nothing.
  public let changes: ResultsDifference<T>
  public let origin: Origin

  /// How the step was worked out.
  public enum Origin: Sendable, Hashable {
    /// There was nothing before.
    case first
    /// From the records that were changed, O(log *n*) each.
    case changes
    /// All was fetched again and compared.
    case fetched(Reason)
  }

  /// Why all was fetched again.
  public enum Reason: String, Sendable, Hashable, CaseIterable {
    /// A record was changed to which the predicate, the order or the sections lead by a relationship.
    case relationship
    /// An entity on which the results depend keeps no history: then every commit is looked at.
    case noHistory
    /// The history no longer reaches back to the step before, or a write left changes out.
    case historyIncomplete
    /// More records were changed at once, or since the step before, than to look at one by one.
    case manyChanges
    /// More rows have left the window than were known behind it.
    case windowEmptied
    case schemaChanged
  }
}

extension LiveRequest {
  /// - Throws: `invalidRequest` for what cannot be observed.
  func check() throws(StoreError) {
    let request = source.request
    if request.isGrouped {
      throw StoreError(
        .invalidRequest, "live results are of records, and a grouped request has rows",
        [("entity", request.entityName)], advice: "observe it with updates(ofRows:)")
    }
    if let path = request.relationshipKeyPathsForPrefetching.first {
      throw StoreError(
        .invalidRequest, "live results prefetch nothing",
        [("entity", request.entityName), ("relationship", path)],
        advice: "observe the related records by themselves")
    }
    guard let sectionPath else { return }
    guard let first = request.sortBy.first, first.path == sectionPath else {
      throw StoreError(
        .invalidRequest, "the rows of a section must stand together",
        [("entity", request.entityName), ("sections", sectionPath)],
        advice: "sort by \(sectionPath) first")
    }
    if first.collation != .binary {
      throw StoreError(
        .invalidRequest, "sections are told apart by their exact values",
        [("entity", request.entityName), ("sort", first.description)],
        advice: "sort by \(sectionPath) without a collation first")
    }
  }
}

extension Store {
  /// Observes the records of a request.
  ///
  /// - Parameter sectionBy: The path whose values divide the results; the first sort key must be the
  ///   same.
  /// - Throws: `invalidRequest` for what cannot be observed. Other errors of the request come from
  ///   the first element.
  public func results(
    of request: FetchRequest, sectionBy: String? = nil, options: AsynchronousFetchOptions = .init()
  ) throws -> LiveResults<Record> {
    try LiveResults(
      self, LiveRequest(source: RecordSource(request), sectionPath: sectionBy), options)
  }

  /// Observes the values of a descriptor.
  ///
  /// - Throws: `invalidRequest` for a key path that names no attribute, and as the one above.
  public func results<T: Entity>(
    of descriptor: FetchDescriptor<T>, options: AsynchronousFetchOptions = .init()
  ) throws -> LiveResults<T> {
    try LiveResults(
      self, LiveRequest(source: RecordSource(descriptor), sectionPath: nil), options)
  }

  /// Observes the values of a descriptor, divided into sections.
  ///
  /// - Throws: As those above.
  public func results<T: Entity, V>(
    of descriptor: FetchDescriptor<T>, sectionBy: any KeyPath<T, V> & Sendable,
    options: AsynchronousFetchOptions = .init()
  ) throws -> LiveResults<T> {
    let path = try T.propertyName(of: sectionBy)
    return try LiveResults(
      self, LiveRequest(source: RecordSource(descriptor), sectionPath: path), options)
  }
}
