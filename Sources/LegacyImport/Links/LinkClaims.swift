/// Decides which row gets a record that can have one link only: the first row that leads to it.
///
/// The decision depends on the source alone, so that a plan, a run and its verification agree. An
/// instance is used for one walk over the links of a relationship, from its beginning.
final class LinkClaims {
  private let isOwnInverse: Bool
  /// Rows that have a link, and pairs of rows that are linked; `nil` for a relationship in which
  /// rows do not compete.
  private let keys: ScratchKeys?

  private static let taken = 0
  private static let pairs = 1

  init(_ link: BoundLink, _ context: ImportContext) throws {
    isOwnInverse = link.isOwnInverse
    keys =
      link.isExclusive && !link.leadsToItsOwnRows(context.bound)
      ? try ScratchKeys(in: context.database.scratchFolder) : nil
  }

  /// - Returns: True if the target is the owner's, now or by an earlier row. O(log rows).
  func claim(_ target: RowKey, for owner: RowKey) throws -> Bool {
    guard let keys else { return true }
    let (one, other) = (owner.identity.bytes, target.identity.bytes)
    if try keys.contains(one + other, in: Self.pairs) { return true }
    if try keys.contains(other, in: Self.taken) { return false }
    if isOwnInverse {
      // The link takes both of its ends.
      if try keys.contains(one, in: Self.taken) { return false }
      _ = try keys.insert(one, in: Self.taken)
      _ = try keys.insert(other + one, in: Self.pairs)
    }
    _ = try keys.insert(other, in: Self.taken)
    _ = try keys.insert(one + other, in: Self.pairs)
    return true
  }

  /// Returns true if an earlier row leads to this one by a link that is its own inverse.
  func isLinkedFromOtherEnd(_ row: RowKey) throws -> Bool {
    guard isOwnInverse, let keys else { return false }
    return try keys.contains(row.identity.bytes, in: Self.taken)
  }
}

extension BoundLink {
  /// True if the links are in the table of the other records, each row with its owner: no row has
  /// two owners.
  fileprivate func leadsToItsOwnRows(_ bound: BoundMapping) -> Bool {
    guard case .join(let table, _, let target, _) = source, table.name == mapping.table,
      let destination = bound.table(named: mapping.table)
    else { return false }
    return target == destination.key.map { destination.columns[$0] }
  }
}
