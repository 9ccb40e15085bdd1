import EntityModel
import EntityStore

/// The dry run of one relationship's links.
struct LinkPlan {
  private let link: BoundLink
  private let records: PlannedRecords
  private let context: ImportContext
  private let claims: LinkClaims
  private let resolution: LinkResolution
  private let reject: (ImportReject) throws -> Void

  /// - Parameter reject: Called with each reject as it is found.
  init(
    _ link: BoundLink, _ records: PlannedRecords, _ context: ImportContext,
    reject: @escaping (ImportReject) throws -> Void
  ) throws {
    self.link = link
    self.records = records
    self.context = context
    claims = try LinkClaims(link, context)
    resolution = LinkResolution(link: link, context: context)
    self.reject = reject
  }

  func run() throws -> ImportReport.Relationship {
    var balance = ImportReport.Relationship(name: link.name)
    let reader = try LinkReader(link, context)
    while let reference = try reader.nextReference() {
      try context.checkCancellation()
      try count(reference, &balance)
    }
    while let list = try reader.nextList() {
      try context.checkCancellation()
      try count(list, &balance)
    }
    balance.unreadable = Int64(reader.unreadable.count)
    return balance
  }

  private func count(
    _ reference: LinkReader.Reference, _ balance: inout ImportReport.Relationship
  ) throws {
    balance.rows += 1
    guard try records.entity(of: reference.owner, in: context.target) != nil else {
      balance.skipped += 1
      return
    }
    guard let target = reference.target else {
      balance.empty += 1
      return
    }
    if try isLinked(target, reference.owner, link.text(of: target), &balance) {
      balance.linked += 1
    }
  }

  private func count(
    _ list: LinkReader.List, _ balance: inout ImportReport.Relationship
  ) throws {
    balance.rows += Int64(list.rows.count)
    guard let owner = list.owner else {
      balance.empty += Int64(list.rows.count)
      return
    }
    guard let entity = try records.entity(of: owner, in: context.target) else {
      let missing = try resolution.missing(owner)
      for row in list.rows { try note(missing, owner, row.text, &balance) }
      return
    }
    guard entity == link.entity else {
      balance.skipped += Int64(list.rows.count)
      return
    }
    var known: Set<RowIdentity> = []
    for (number, target) in list.targets.enumerated() {
      guard let target else {
        balance.empty += 1
        continue
      }
      guard try isLinked(target, owner, list.rows[number].text, &balance) else { continue }
      if known.insert(target.identity).inserted {
        balance.linked += 1
      } else {
        balance.skipped += 1
      }
    }
  }

  /// - Returns: `false` if it is counted as what it is.
  private func isLinked(
    _ target: RowKey, _ owner: RowKey, _ row: String, _ balance: inout ImportReport.Relationship
  ) throws -> Bool {
    switch try records.entity(of: target, in: context.target) {
    case nil: try note(resolution.missing(target), owner, row, &balance)
    case link.destination?:
      if try claims.claim(target, for: owner) { return true }
      try note(resolution.taken(target), owner, row, &balance)
    case _?: balance.skipped += 1
    }
    return false
  }

  private func note(
    _ reject: Reject, _ owner: RowKey, _ row: String, _ balance: inout ImportReport.Relationship
  ) throws {
    if resolution.drops(reject) {
      balance.dropped += 1
      return
    }
    balance.rejected += 1
    try self.reject(
      ImportReject(
        reject, entity: link.entity, table: context.bound.tables[link.table].table.name,
        key: owner.cells, row: row))
  }
}
