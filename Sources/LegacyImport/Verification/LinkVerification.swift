import EntityModel
import EntityStore

/// Compares the links of one relationship with the source.
struct LinkVerification {
  let link: BoundLink
  let context: ImportContext

  func run() throws -> ImportReport.Relationship {
    var balance = ImportReport.Relationship(name: link.name)
    let claims = try LinkClaims(link, context)
    let pairs = try LinkPairs(link, context)
    let reader = try LinkReader(link, context)
    func check(_ body: (LinkCheck) throws -> Void) throws {
      try context.checkCancellation()
      try context.target.read { snapshot in
        try body(try LinkCheck(link, context, claims, pairs, in: snapshot))
      }
    }
    switch link.source {
    case .columns:
      while case let references = try reader.nextReferences(), !references.isEmpty {
        try check { check in for reference in references { try check.check(reference, &balance) } }
      }
    case .join:
      while case let lists = try reader.nextLists(), !lists.isEmpty {
        try check { check in for list in lists { try check.check(list, &balance) } }
      }
    }
    balance.unreadable = Int64(reader.unreadable.count)
    return balance
  }
}

/// Compares links with the store, in one snapshot.
private struct LinkCheck {
  private let link: BoundLink
  private let context: ImportContext
  private let claims: LinkClaims
  private let pairs: LinkPairs?
  private let resolution: LinkResolution
  private let ledger: ImportLedger
  private let snapshot: ReadTransaction

  init(
    _ link: BoundLink, _ context: ImportContext, _ claims: LinkClaims, _ pairs: LinkPairs?,
    in snapshot: ReadTransaction
  ) throws {
    self.link = link
    self.context = context
    self.claims = claims
    self.pairs = pairs
    resolution = LinkResolution(link: link, context: context)
    ledger = try ImportLedger(in: snapshot)
    self.snapshot = snapshot
  }

  func check(
    _ reference: LinkReader.Reference, _ balance: inout ImportReport.Relationship
  ) throws {
    balance.rows += 1
    // A row that was not taken over has no links; it is counted as what it is.
    guard let owner = try ledger.entry(of: reference.owner.identity) else {
      balance.skipped += 1
      return
    }
    guard let key = reference.target else {
      balance.empty += 1
      return
    }
    switch try resolution.target(key, in: ledger) {
    case .elsewhere: balance.skipped += 1
    case .rejected(let reject): count(reject, &balance)
    case .found(let target):
      guard try claims.claim(key, for: reference.owner) else {
        return count(resolution.taken(key), &balance)
      }
      balance.linked += 1
      guard try snapshot.get(owner.objectID) != nil,
        try snapshot.relatedObject(owner.objectID, link.mapping.relationship) == target.objectID
      else {
        return try differ([owner, target], links: 1, reference.owner, &balance)
      }
    }
  }

  func check(_ list: LinkReader.List, _ balance: inout ImportReport.Relationship) throws {
    balance.rows += Int64(list.rows.count)
    guard let key = list.owner else {
      balance.empty += Int64(list.rows.count)
      return
    }
    guard let owner = try ledger.entry(of: key.identity) else {
      let reject = try resolution.missing(key)
      for _ in list.rows { count(reject, &balance) }
      return
    }
    if owner.entity != link.entity {
      balance.skipped += Int64(list.rows.count)
      return
    }
    var entries: [LedgerEntry] = []
    var expected: [ObjectID] = []
    var known: Set<ObjectID> = []
    for target in list.targets {
      guard let target else {
        balance.empty += 1
        continue
      }
      switch try resolution.target(target, in: ledger) {
      case .elsewhere: balance.skipped += 1
      case .rejected(let reject): count(reject, &balance)
      case .found(let entry):
        guard try claims.claim(target, for: key) else {
          count(resolution.taken(target), &balance)
          continue
        }
        guard known.insert(entry.objectID).inserted else {
          balance.skipped += 1
          continue
        }
        balance.linked += 1
        entries.append(entry)
        expected.append(entry.objectID)
      }
    }
    if try !isLinked(owner.objectID, with: expected) {
      try differ([owner] + entries, links: Int64(entries.count), key, &balance)
    }
  }

  private func isLinked(_ owner: ObjectID, with expected: [ObjectID]) throws -> Bool {
    guard try snapshot.get(owner) != nil else { return false }
    let found = try snapshot.related(owner, link.mapping.relationship)
    if link.isOrdered { return found == expected }
    return try Set(found) == Set(expected + (pairs?.others(of: owner, in: snapshot) ?? []))
  }

  private func count(_ reject: Reject, _ balance: inout ImportReport.Relationship) {
    if resolution.drops(reject) {
      balance.dropped += 1
    } else {
      balance.rejected += 1
    }
  }

  /// Counts links that are missing because the store has refused them, or because they have been
  /// changed in the store, unless this run has just written them.
  private func differ(
    _ entries: [LedgerEntry], links: Int64, _ key: RowKey,
    _ balance: inout ImportReport.Relationship
  ) throws {
    if try RejectSearch(in: snapshot).contains(
      key.identity, link: link.mapping.relationship, .linkRefused)
    {
      balance.linked -= links
      balance.rejected += links
      return
    }
    let isOurs = entries.contains { $0.run == context.run }
    let areThere = try entries.allSatisfy { try snapshot.get($0.objectID) != nil }
    guard isOurs, areThere else {
      balance.edited += 1
      return
    }
    if balance.problems.count < Limits.rowsNamedMax {
      balance.problems.append("row \(key.text) is not linked as the source says")
    }
  }
}
