public import EntityModel
public import EntityStore
import Foundation

/// A cache of the sections of a request, stored under a name.
///
/// An entry holds the token of the commit that it describes. It is used only while the change
/// history shows that nothing on which the sections depend has changed since, so that it is never
/// stale. The request is part of the entry, so that a changed request can use the same name.
private struct SectionCache: Sendable {
  private static let entity = "_SectionCache"

  let name: String
  /// The encoded request and section path.
  let request: Data

  init(_ name: String, _ request: FetchRequest, by path: String) throws {
    struct Question: Encodable {
      let request: FetchRequest
      let path: String
    }
    self.name = name
    self.request = try Self.encoded(Question(request: request, path: path))
  }

  // MARK: JSON, which has no infinite numbers

  private static let infinities = ("inf", "-inf", "nan")

  private static func encoded(_ value: some Encodable) throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    encoder.nonConformingFloatEncodingStrategy = .convertToString(
      positiveInfinity: infinities.0, negativeInfinity: infinities.1, nan: infinities.2)
    return try encoder.encode(value)
  }

  private static func sections(of data: Data) throws -> [ResultsSection] {
    let decoder = JSONDecoder()
    decoder.nonConformingFloatDecodingStrategy = .convertFromString(
      positiveInfinity: infinities.0, negativeInfinity: infinities.1, nan: infinities.2)
    return try decoder.decode([ResultsSection].self, from: data)
  }

  // MARK: The entry

  /// Reads the entry.
  ///
  /// - Returns: `nil` if there is no entry, or one that may be stale.
  func read(
    _ dependencies: Dependencies, in transaction: ReadTransaction
  ) throws -> [ResultsSection]? {
    guard dependencies.unrecorded.isEmpty,
      let record = try transaction.get(Self.entity, by: ["name": .string(name)]),
      try record["request"] == .data(request),
      try record["revision"] == .int64(Int64(bitPattern: transaction.catalog.revision)),
      case .string(let text) = try record["token"], case .data(let data) = try record["sections"],
      let sequence = try Self.sequence(of: text, in: transaction)
    else { return nil }
    let changes = try CommittedChanges(after: sequence, for: dependencies, in: transaction)
    if changes.isUnknown || changes.touchesOwn || changes.touchesOthers { return nil }
    do {
      return try Self.sections(of: data)
    } catch is DecodingError {
      return nil  // it is made anew
    }
  }

  /// Returns the position of a token in the history; `nil` if the history no longer reaches back to
  /// it.
  private static func sequence(
    of text: String, in transaction: ReadTransaction
  ) throws -> Int64? {
    do {
      return try transaction.sequence(of: HistoryToken(text))
    } catch let error as StoreError
      where error.code == .invalidToken || error.code == .expiredToken
    {
      return nil
    }
  }

  /// Stores the sections, unless they are too large.
  ///
  /// - Throws: `invalidRequest` if there are too many cached entries.
  func write(
    _ sections: [ResultsSection], of token: HistoryToken, revision: UInt64,
    in transaction: WriteTransaction
  ) throws {
    let data = try Self.encoded(sections)
    guard data.count + request.count <= Limits.sectionCacheBytesMax else { return }
    if try transaction.objectID(Self.entity, by: ["name": .string(name)]) == nil,
      try transaction.count(of: Self.entity) >= Limits.sectionCachesMax
    {
      throw StoreError(
        .invalidRequest, "the store has too many section caches",
        [("at most", String(Limits.sectionCachesMax))],
        advice: "use fewer names, or remove them with removeSectionCache")
    }
    try transaction.upsert(
      Self.entity,
      [
        "name": .string(name), "request": .data(request), "token": .string(token.description),
        "revision": .int64(Int64(bitPattern: revision)),
        "sections": .data(data),
      ], by: ["name"])
  }

  /// Removes one entry.
  ///
  /// - Parameter name: The name of the entry; `nil` removes all.
  static func remove(named name: String?, in transaction: WriteTransaction) throws {
    let predicate = name.map { FetchPredicate.comparison("name", .equal, .string($0)) }
    let request = FetchRequest(entityName: entity, predicate: predicate)
    for id in try transaction.fetchIdentifiers(request) { try transaction.delete(id) }
  }
}

extension Store {
  /// Returns the sections of a request and their counts, those of the first element of
  /// `results(of:sectionBy:)`, without the rows.
  ///
  /// - Parameter cacheName: The name under which the sections are cached in the store (Core Data's
  ///   `cacheName`). Later calls, in any process, then read one entry as long as nothing has
  ///   changed on which the sections depend. Requests of one name take turns. Sections that take
  ///   more than 4 MiB, and those of a store that is open for reading only, are not cached.
  /// - Throws: The errors of the first element of `results(of:sectionBy:)`; with a cache name also
  ///   those of `write(author:_:)`.
  public func sections(
    of request: FetchRequest, by path: String, cacheName: String? = nil
  ) async throws -> [ResultsSection] {
    let live = LiveRequest(source: RecordSource(request), sectionPath: path)
    try live.check()
    let cache = try cacheName.map { try SectionCache($0, request, by: path) }
    let (sections, token, revision) = try await readAsynchronously { transaction in
      let entity = try transaction.catalog.entity(request.entityName)
      let dependencies = try Dependencies(
        request, sections: path, of: entity, in: transaction)
      if let kept = try cache?.read(dependencies, in: transaction) {
        return (kept, HistoryToken?.none, UInt64(0))
      }
      let sections = try transaction.sections(of: request, by: path)
      let isKept = dependencies.unrecorded.isEmpty
      return (sections, isKept ? try transaction.historyToken() : nil, transaction.catalog.revision)
    }
    if let cache, let token, !options.isReadOnly {
      try await write { try cache.write(sections, of: token, revision: revision, in: $0) }
    }
    return sections
  }

  /// Returns the sections of a descriptor; see `sections(of:by:cacheName:)`.
  public func sections<T: Entity, V>(
    of descriptor: FetchDescriptor<T>, by keyPath: any KeyPath<T, V> & Sendable,
    cacheName: String? = nil
  ) async throws -> [ResultsSection] {
    try await sections(
      of: try descriptor.request(), by: try T.propertyName(of: keyPath), cacheName: cacheName)
  }

  /// Removes the cached sections of a name.
  ///
  /// - Parameter name: The name of the cache; `nil` removes all.
  public func removeSectionCache(named name: String?) async throws {
    try await write { try SectionCache.remove(named: name, in: $0) }
  }
}

extension ReadTransaction {
  fileprivate func sections(
    of request: FetchRequest, by path: String
  ) throws -> [ResultsSection] {
    try requireRecords(request)
    if request.fetchLimit == 0, request.fetchOffset == 0 {
      return try sectionsOfAll(request, by: path)
    }
    let entity = try catalog.entity(request.entityName)
    var execution = try FetchExecution(request, in: self)
    let section = try Binder(.entity(entity), in: self).bind(.path(path)).program
    var sections: [ResultsSection] = []
    try execution.runRecords { id, view in
      let name = try section.evaluate(FetchRow(id: id, view: view), in: self)
      let before = sections.last?.name == name ? sections.popLast()?.count ?? 0 : 0
      sections.append(ResultsSection(name: name, count: before + 1))
      return true
    }
    return sections
  }

  /// Counts the sections by a grouped fetch, which reads no records where the path has an index.
  private func sectionsOfAll(
    _ request: FetchRequest, by path: String
  ) throws -> [ResultsSection] {
    var groups = FetchRequest(entityName: request.entityName, predicate: request.predicate)
    groups.propertiesToGroupBy = [path]
    groups.propertiesToFetch = [.path(path), .count(as: "count")]
    groups.sortBy = request.sortBy.prefix(1).map { SortKey(path, descending: $0.isDescending) }
    return try fetchRows(groups).map { row in
      guard case .int64(let count) = row.values[1] else {
        return ResultsSection(name: row.values[0], count: 0)
      }
      return ResultsSection(name: row.values[0], count: Int(count))
    }
  }
}
