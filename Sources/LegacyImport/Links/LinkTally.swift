/// Counts the links of one relationship by their outcomes. A plan and a verification differ in how
/// they find the record of a row.
final class LinkTally {
  var balance: ImportReport.Relationship
  private let link: BoundLink
  private let claims: LinkClaims
  private let resolution: LinkResolution
  private let reject: (Reject, RowKey, String) throws -> Void

  /// - Parameter reject: Called with each reject, the owner of the link, and the row as text.
  init(
    _ link: BoundLink, _ context: ImportContext,
    reject: @escaping (Reject, RowKey, String) throws -> Void = { _, _, _ in }
  ) throws {
    self.link = link
    self.reject = reject
    balance = ImportReport.Relationship(name: link.name)
    claims = try LinkClaims(link, context)
    resolution = LinkResolution(link: link, context: context)
  }

  /// - Parameter record: Returns the record of a row, with its entity; `nil` if the row has none.
  /// - Returns: The records of the two rows if they are to be linked.
  @discardableResult
  func count<Record>(
    _ reference: LinkReader.Reference,
    _ record: (RowKey) throws -> (entity: String, record: Record)?
  ) throws -> (owner: Record, target: Record)? {
    balance.rows += 1
    // A row that was not taken over has no links; it is counted as what it is.
    guard let (_, owner) = try record(reference.owner) else {
      balance.skipped += 1
      return nil
    }
    guard let key = reference.target else {
      balance.empty += 1
      return nil
    }
    guard let target = try target(key, reference.owner, link.text(of: key), record) else {
      return nil
    }
    balance.linked += 1
    return (owner, target)
  }

  /// - Parameters:
  ///   - record: Returns the record of a row, with its entity; `nil` if the row has none.
  ///   - id: Returns what a repeated link has in common with the first one.
  /// - Returns: The records of the owner and of the rows that are to be linked with it; `nil` if
  ///   the owner has none in this relationship.
  @discardableResult
  func count<Record, ID: Hashable>(
    _ list: LinkReader.List, _ record: (RowKey) throws -> (entity: String, record: Record)?,
    id: (RowKey, Record) -> ID
  ) throws -> (owner: Record, targets: [Record])? {
    let rows = Int64(list.rows.count)
    balance.rows += rows
    guard let key = list.owner else {
      balance.empty += rows
      return nil
    }
    guard let (entity, owner) = try record(key) else {
      let missing = try resolution.missing(key)
      for row in list.rows { try note(missing, key, row.text) }
      return nil
    }
    guard entity == link.entity else {
      balance.skipped += rows
      return nil
    }
    var known: Set<ID> = []
    var targets: [Record] = []
    for (number, other) in list.targets.enumerated() {
      guard let other else {
        balance.empty += 1
        continue
      }
      guard let target = try target(other, key, list.rows[number].text, record) else { continue }
      guard known.insert(id(other, target)).inserted else {
        balance.skipped += 1
        continue
      }
      balance.linked += 1
      targets.append(target)
    }
    return (owner, targets)
  }

  /// - Returns: The record that a link leads to; `nil` if the link is counted as what it is.
  private func target<Record>(
    _ key: RowKey, _ owner: RowKey, _ row: @autoclosure () -> String,
    _ record: (RowKey) throws -> (entity: String, record: Record)?
  ) throws -> Record? {
    guard let (entity, target) = try record(key) else {
      try note(resolution.missing(key), owner, row())
      return nil
    }
    guard entity == link.destination else {
      balance.skipped += 1
      return nil
    }
    guard try claims.claim(key, for: owner) else {
      try note(resolution.taken(key), owner, row())
      return nil
    }
    return target
  }

  private func note(_ reject: Reject, _ owner: RowKey, _ row: String) throws {
    if resolution.drops(reject) {
      balance.dropped += 1
    } else {
      balance.rejected += 1
      try self.reject(reject, owner, row)
    }
  }
}
