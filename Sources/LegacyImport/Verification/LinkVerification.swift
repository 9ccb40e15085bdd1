import EntityModel
import EntityStore

/// Compares the links of one relationship with the source.
struct LinkVerification {
  let link: BoundLink
  let context: ImportContext

  func run() throws -> ImportReport.Relationship {
    let tally = try LinkTally(link, context)
    let pairs = try LinkPairs(link, context)
    let reader = try LinkReader(link, context)
    func check(_ body: (LinkCheck) throws -> Void) throws {
      try context.checkCancellation()
      try context.target.read { snapshot in
        try body(
          LinkCheck(
            link: link, context: context, tally: tally, pairs: pairs,
            ledger: try ImportLedger(in: snapshot), snapshot: snapshot))
      }
    }
    switch link.source {
    case .columns:
      while case let references = try reader.nextReferences(), !references.isEmpty {
        try check { check in for reference in references { try check.check(reference) } }
      }
    case .join:
      while case let lists = try reader.nextLists(), !lists.isEmpty {
        try check { check in for list in lists { try check.check(list) } }
      }
    }
    tally.balance.unreadable = context.lostLinks(of: link)
    return tally.balance
  }
}

/// Compares links with the store, in one snapshot.
private struct LinkCheck {
  let link: BoundLink
  let context: ImportContext
  let tally: LinkTally
  let pairs: LinkPairs?
  let ledger: ImportLedger
  let snapshot: ReadTransaction

  func check(_ reference: LinkReader.Reference) throws {
    guard let (owner, target) = try tally.count(reference, record) else { return }
    guard try snapshot.get(owner.objectID) != nil,
      try snapshot.relatedObject(owner.objectID, link.mapping.relationship) == target.objectID
    else { return try differ([owner, target], links: 1, reference.owner) }
  }

  func check(_ list: LinkReader.List) throws {
    guard
      let (owner, targets) = try tally.count(list, record, id: { $1.objectID }),
      let key = list.owner
    else { return }
    if try !isLinked(owner.objectID, with: targets.map(\.objectID)) {
      try differ([owner] + targets, links: Int64(targets.count), key)
    }
  }

  private func record(of row: RowKey) throws -> (entity: String, record: LedgerEntry)? {
    guard let entry = try ledger.entry(of: row.identity) else { return nil }
    return (entry.entity, entry)
  }

  private func isLinked(_ owner: ObjectID, with expected: [ObjectID]) throws -> Bool {
    guard try snapshot.get(owner) != nil else { return false }
    let found = try snapshot.related(owner, link.mapping.relationship)
    if link.isOrdered { return found == expected }
    return try Set(found) == Set(expected + (pairs?.others(of: owner, in: snapshot) ?? []))
  }

  /// Counts links that are missing because the store has refused them, or because they have been
  /// changed in the store, unless this run has just written them.
  private func differ(_ entries: [LedgerEntry], links: Int64, _ key: RowKey) throws {
    if try RejectSearch(in: snapshot).contains(
      key.identity, link: link.mapping.relationship, .linkRefused)
    {
      tally.balance.linked -= links
      tally.balance.rejected += links
      return
    }
    let isOurs = entries.contains { $0.run == context.run }
    let areThere = try entries.allSatisfy { try snapshot.get($0.objectID) != nil }
    guard isOurs, areThere else {
      tally.balance.edited += 1
      return
    }
    if tally.balance.problems.count < Limits.rowsNamedMax {
      tally.balance.problems.append("row \(key.text) is not linked as the source says")
    }
  }
}
