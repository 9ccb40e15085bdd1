/// The dry run of one relationship's links.
struct LinkPlan {
  let link: BoundLink
  let records: PlannedRecords
  let context: ImportContext
  /// Called with each reject as it is found.
  let reject: (ImportReject) throws -> Void

  func run() throws -> ImportReport.Relationship {
    let tally = try LinkTally(link, context) { refusal, owner, row in
      try reject(
        ImportReject(
          refusal, entity: link.entity, table: context.bound.tables[link.table].table.name,
          key: owner.cells, row: row))
    }
    let reader = try LinkReader(link, context)
    while let reference = try reader.nextReference() {
      try context.checkCancellation()
      try tally.count(reference, record)
    }
    while let list = try reader.nextList() {
      try context.checkCancellation()
      try tally.count(list, record) { row, _ in row.identity }
    }
    tally.balance.unreadable = context.lostLinks(of: link)
    return tally.balance
  }

  /// Returns the entity of the record that a row would have. There is no record yet.
  private func record(of row: RowKey) throws -> (entity: String, record: Void)? {
    guard let entity = try records.entity(of: row, in: context.target) else { return nil }
    return (entity, ())
  }
}
