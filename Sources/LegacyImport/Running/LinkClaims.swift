/// Whose a record is that can be linked with one other only: the first row that leads to it has it.
///
/// The source alone says who that is, so that a plan, a run and its verification come to the same. Used
/// for one walk over the links of a relationship, from its beginning.
final class LinkClaims {
  private let isOwnInverse: Bool
  /// Rows that are taken, and pairs of rows that are linked; `nil` where nobody competes.
  private let keys: ScratchKeys?

  private static let taken = 0
  private static let pairs = 1

  init(_ link: BoundLink, _ context: ImportContext) throws {
    isOwnInverse = link.isOwnInverse
    keys =
      link.isExclusive && !link.leadsToItsOwnRows(context.bound)
      ? try ScratchKeys(in: context.database.scratchFolder) : nil
  }

  /// - Returns: Whether the target is the owner's, now or by an earlier row. O(log rows).
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

  /// Whether an earlier row leads to this one by a link that is the same from both ends.
  func isLinkedFromOtherEnd(_ row: RowKey) throws -> Bool {
    guard isOwnInverse, let keys else { return false }
    return try keys.contains(row.identity.bytes, in: Self.taken)
  }
}

extension BoundLink {
  /// Whether the links stand in the table of the others themselves, each row with its owner: none of them
  /// has two.
  fileprivate func leadsToItsOwnRows(_ bound: BoundMapping) -> Bool {
    guard case .join(let table, _, let target, _) = source, table.name == mapping.table,
      let destination = bound.table(named: mapping.table)
    else { return false }
    return target == destination.key.map { destination.columns[$0] }
  }
}
