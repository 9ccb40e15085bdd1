import EntityModel

/// Finds the row that a link leads to.
struct LinkResolution {
  enum Target {
    case found(LedgerEntry)
    /// The link leads to a record of another entity, to which another relationship may lead.
    case elsewhere
    case rejected(Reject)
  }

  let link: BoundLink
  let context: ImportContext

  func target(_ key: RowKey, in ledger: ImportLedger) throws -> Target {
    if let entry = try ledger.entry(of: key.identity) {
      return entry.entity == link.destination ? .found(entry) : .elsewhere
    }
    return .rejected(try missing(key))
  }

  /// True for a link that leads to no row and that the mapping drops: it is only counted.
  func drops(_ reject: Reject) -> Bool {
    reject.code == Reject.Code.orphan.rawValue && link.mapping.orphan == .drop
  }

  func taken(_ key: RowKey) -> Reject {
    Reject(
      .linkTaken, link.mapping.relationship,
      "\(key.table) \(key.text) can be linked with one record only, and an earlier row has it")
  }

  func missing(_ key: RowKey) throws -> Reject {
    let isThere = try context.bound.table(named: key.table).map { table in
      try context.database.row(
        of: table.table, where: table.key.map { table.columns[$0] }, is: key.cells,
        columns: table.key.map { table.columns[$0] }) != nil
    }
    return isThere == true
      ? Reject(
        .rowRejected, link.mapping.relationship,
        "\(key.table) \(key.text) was rejected or skipped")
      : Reject(.orphan, link.mapping.relationship, "\(key.table) has no row \(key.text)")
  }
}
