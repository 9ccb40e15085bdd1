public import EntityModel
public import EntityStore

/// Fetches, counts and aggregates.
///
/// All methods throw `invalidRequest` for an invalid predicate and for a key path that names no
/// attribute, and `requiresIndex` if the request demands an index that does not exist.
extension Repository {
  /// Returns the values of a descriptor, filtered, sorted and windowed.
  public func fetch<T: Entity>(_ descriptor: FetchDescriptor<T>) async throws -> [T] {
    try await snapshot { try $0.fetch(descriptor) }
  }

  /// Returns the values of a descriptor with the identities of their records.
  public func fetchIdentified<T: Entity>(
    _ descriptor: FetchDescriptor<T>
  ) async throws -> [Identified<T>] {
    try await snapshot { try $0.fetchIdentified(try descriptor.request()) }
  }

  /// Returns the number of values that a fetch of the descriptor would return. No record is decoded
  /// into a value.
  public func count<T: Entity>(_ descriptor: FetchDescriptor<T>) async throws -> Int {
    try await snapshot { try $0.count(descriptor) }
  }

  // MARK: Of all records

  /// Returns the sum of an attribute. Nulls are ignored.
  ///
  /// - Returns: `nil` if there is no value.
  /// - Throws: `invalidRequest` for a sum of integers that does not fit into 64 bits.
  public func sum<T: Entity, V: NumericAttribute>(
    of keyPath: any KeyPath<T, V> & Sendable, where predicate: FetchPredicate? = nil
  ) async throws -> V.Sum? {
    try await aggregate(.sum, of: keyPath, where: predicate)
  }

  /// Returns the average of an attribute. Nulls are ignored.
  ///
  /// - Returns: `nil` if there is no value.
  public func average<T: Entity, V: NumericAttribute>(
    of keyPath: any KeyPath<T, V> & Sendable, where predicate: FetchPredicate? = nil
  ) async throws -> V.Average? {
    try await aggregate(.average, of: keyPath, where: predicate)
  }

  /// Returns the least value of an attribute. Nulls are ignored. Texts are compared by their bytes.
  ///
  /// - Returns: `nil` if there is no value.
  /// - Complexity: O(log *n*) where an index gives the value, else O(*n*).
  public func minimum<T: Entity, V: OrderedAttribute>(
    of keyPath: any KeyPath<T, V> & Sendable, where predicate: FetchPredicate? = nil
  ) async throws -> V.Extremum? {
    try await aggregate(.minimum, of: keyPath, where: predicate)
  }

  /// Returns the greatest value of an attribute; see `minimum(of:where:)`.
  public func maximum<T: Entity, V: OrderedAttribute>(
    of keyPath: any KeyPath<T, V> & Sendable, where predicate: FetchPredicate? = nil
  ) async throws -> V.Extremum? {
    try await aggregate(.maximum, of: keyPath, where: predicate)
  }

  // MARK: Of each group

  /// Returns the number of records in each group.
  ///
  /// - Parameter keyPaths: The attributes and to-one relationships by which records are grouped.
  /// - Returns: All groups, one for each distinct combination of the keys' values (null is a
  ///   value), in the order of the keys.
  public func count<T: Entity>(
    of type: T.Type, where predicate: FetchPredicate? = nil, groupBy keyPaths: [GroupKey<T>]
  ) async throws -> [AggregateGroup<Int>] {
    let groups: [AggregateGroup<Int?>] = try await self.groups(
      type, .count, of: nil, where: predicate, by: keyPaths)
    return groups.map { AggregateGroup(key: $0.key, value: $0.value ?? 0) }
  }

  /// Returns the sum of an attribute in each group; `nil` where all of its values are null. The
  /// groups are those of `count(of:where:groupBy:)`.
  public func sum<T: Entity, V: NumericAttribute>(
    of keyPath: any KeyPath<T, V> & Sendable, where predicate: FetchPredicate? = nil,
    groupBy keyPaths: [GroupKey<T>]
  ) async throws -> [AggregateGroup<V.Sum?>] {
    try await groups(T.self, .sum, of: keyPath, where: predicate, by: keyPaths)
  }

  /// Returns the average of an attribute in each group; `nil` where all of its values are null. The
  /// groups are those of `count(of:where:groupBy:)`.
  public func average<T: Entity, V: NumericAttribute>(
    of keyPath: any KeyPath<T, V> & Sendable, where predicate: FetchPredicate? = nil,
    groupBy keyPaths: [GroupKey<T>]
  ) async throws -> [AggregateGroup<V.Average?>] {
    try await groups(T.self, .average, of: keyPath, where: predicate, by: keyPaths)
  }

  /// Returns the least value of an attribute in each group; `nil` where all of its values are null.
  /// The groups are those of `count(of:where:groupBy:)`.
  public func minimum<T: Entity, V: OrderedAttribute>(
    of keyPath: any KeyPath<T, V> & Sendable, where predicate: FetchPredicate? = nil,
    groupBy keyPaths: [GroupKey<T>]
  ) async throws -> [AggregateGroup<V.Extremum?>] {
    try await groups(T.self, .minimum, of: keyPath, where: predicate, by: keyPaths)
  }

  /// Returns the greatest value of an attribute in each group; `nil` where all of its values are
  /// null. The groups are those of `count(of:where:groupBy:)`.
  public func maximum<T: Entity, V: OrderedAttribute>(
    of keyPath: any KeyPath<T, V> & Sendable, where predicate: FetchPredicate? = nil,
    groupBy keyPaths: [GroupKey<T>]
  ) async throws -> [AggregateGroup<V.Extremum?>] {
    try await groups(T.self, .maximum, of: keyPath, where: predicate, by: keyPaths)
  }

  // MARK: Requests

  private func aggregate<T: Entity, V, R: AggregateResult>(
    _ function: AggregateFunction, of keyPath: any KeyPath<T, V> & Sendable,
    where predicate: FetchPredicate?
  ) async throws -> R? {
    let groups: [AggregateGroup<R?>] = try await groups(
      T.self, function, of: keyPath, where: predicate, by: [])
    // Without keys there is exactly one group.
    return groups.first?.value
  }

  private func groups<T: Entity, R: AggregateResult>(
    _ type: T.Type, _ function: AggregateFunction, of keyPath: GroupKey<T>?,
    where predicate: FetchPredicate?, by keyPaths: [GroupKey<T>]
  ) async throws -> [AggregateGroup<R?>] {
    let attribute = try keyPath.map { try T.attributeName(of: $0) }
    let keys = try keyPaths.map { try T.propertyName(of: $0) }
    var request = FetchRequest(entityName: T.entityName, predicate: predicate)
    request.resultType = .rows
    request.propertiesToGroupBy = keys
    // The column is read by its position: an attribute may have any name.
    let aggregate = FetchProperty("()", .aggregate(function, attribute.map(FetchExpression.path)))
    request.propertiesToFetch = keys.map(FetchProperty.path) + [aggregate]
    let rows = try await snapshot { [request] in try $0.fetchRows(request) }
    return try rows.map { row in
      let value = row.values[keys.count]
      return AggregateGroup(
        key: Array(row.values.prefix(keys.count)),
        value: value.isNull ? nil : try R.reading(value, of: T.self, attribute))
    }
  }
}

/// A property by which records are grouped.
public typealias GroupKey<T: Entity> = any PartialKeyPath<T> & Sendable

/// The value of an aggregate for the records of one group.
public struct AggregateGroup<Result: Sendable>: Sendable {
  /// The values of the group's keys, in the order of the requested keys.
  public let key: [Value]
  public let value: Result
}

extension AggregateGroup: Equatable where Result: Equatable {}

extension AggregateResult {
  fileprivate static func reading(
    _ value: Value, of type: any Entity.Type, _ attribute: String?
  ) throws -> Self {
    if let result = Self(aggregate: value) { return result }
    throw StoreError(
      .schemaMismatch, "an attribute has another type in the store",
      [("entity", type.entityName), ("attribute", attribute ?? "")],
      advice: "give the property the type of the attribute")
  }
}

extension ReadTransaction {
  fileprivate func fetchIdentified<T: Entity>(_ request: FetchRequest) throws -> [Identified<T>] {
    var identities: [ObjectID] = []
    var values: [T] = []
    try readRecords(request, as: T.self) { record in
      identities.append(record.id)
      values.append(try T(from: &record))
    }
    for name in request.relationshipKeyPathsForPrefetching { try prefetch(name, into: &values) }
    return zip(identities, values).map { Identified($0, $1) }
  }
}
