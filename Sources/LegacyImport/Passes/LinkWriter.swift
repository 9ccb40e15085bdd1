import EntityModel
import EntityStore

/// Writes single links within a transaction.
struct LinkWriter {
  private let link: BoundLink
  private let claims: LinkClaims
  private let pairs: LinkPairs?
  private let context: ImportContext
  private let transaction: WriteTransaction
  private let ledger: ImportLedger
  private let log: RejectLog
  private let resolution: LinkResolution

  init(
    _ link: BoundLink, _ claims: LinkClaims, _ pairs: LinkPairs?, _ context: ImportContext,
    in transaction: WriteTransaction
  ) throws {
    self.link = link
    self.claims = claims
    self.pairs = pairs
    self.context = context
    self.transaction = transaction
    ledger = try ImportLedger(in: transaction)
    log = RejectLog(source: context.source, run: context.run, transaction: transaction)
    resolution = LinkResolution(link: link, context: context)
  }

  func write(_ reference: LinkReader.Reference) throws {
    guard let owner = try ledger.entry(of: reference.owner.identity) else { return }
    guard let key = reference.target else {
      // It led somewhere before.
      return try end(owner, reference)
    }
    switch try resolution.target(key, in: ledger) {
    case .found(let target):
      guard try claims.claim(key, for: reference.owner) else {
        try refuse(owner, resolution.taken(key), reference)
        return try note(owner, wasTaken: true)
      }
      let wasTaken = owner.links[link.mapping.relationship] != nil
      if owner.run == context.run || target.run == context.run || wasTaken {
        try set(owner, target, reference.owner)
      }
      if wasTaken { try note(owner, wasTaken: false) }
    case .elsewhere: try end(owner, reference)
    case .rejected(let reject): try refuse(owner, reject, reference)
    }
  }

  private func refuse(
    _ owner: LedgerEntry, _ reject: Reject, _ reference: LinkReader.Reference
  ) throws {
    try end(owner, reference)
    try add(reject, reference.owner, link.text(of: reference.target))
  }

  private func end(_ owner: LedgerEntry, _ reference: LinkReader.Reference) throws {
    if owner.run == context.run, try !claims.isLinkedFromOtherEnd(reference.owner) {
      try set(owner, nil, reference.owner)
    }
  }

  /// Records that another row has the link of this one. When the other row no longer has it, the
  /// link is written although neither of its rows has changed.
  private func note(_ owner: LedgerEntry, wasTaken: Bool) throws {
    var links = owner.links
    links[link.mapping.relationship] = wasTaken ? 1 : nil
    if links == owner.links { return }
    try ledger.update(owner, hash: owner.hash, run: owner.run, links: links, in: transaction)
  }

  private func set(_ owner: LedgerEntry, _ target: LedgerEntry?, _ key: RowKey) throws {
    do {
      try transaction.setRelated(
        owner.objectID, link.mapping.relationship, to: target?.objectID)
    } catch let error as StoreError {
      try refuse(error, key)
    }
  }

  /// - Returns: The number of the owner's row in the ledger, if it is there.
  func write(_ list: LinkReader.List) throws -> Int64? {
    // In the table of the other records, a row without an owner.
    guard let key = list.owner else { return nil }
    guard let owner = try ledger.entry(of: key.identity) else {
      let reject = try resolution.missing(key)
      for row in list.rows { try add(reject, key, row.text) }
      return nil
    }
    if owner.entity != link.entity { return nil }
    var digest = ValueDigest()
    var targets: [ObjectID] = []
    var isTouched = owner.run == context.run
    for (number, target) in list.targets.enumerated() {
      for cell in list.rows[number].cells { digest.append(cell) }
      guard let target else { continue }
      switch try resolution.target(target, in: ledger) {
      case .found(let entry):
        guard try claims.claim(target, for: key) else {
          digest.append(Int64(1))
          try add(resolution.taken(target), key, list.rows[number].text)
          continue
        }
        targets.append(entry.objectID)
        isTouched = isTouched || entry.run == context.run
      case .elsewhere: continue
      case .rejected(let reject): try add(reject, key, list.rows[number].text)
      }
    }
    guard isTouched || owner.links[link.mapping.relationship] != digest.hash else {
      return owner.number
    }
    do {
      if let pairs, try transaction.get(owner.objectID) != nil {
        targets += try pairs.others(of: owner.objectID, in: transaction)
      }
      try transaction.setRelated(owner.objectID, link.mapping.relationship, to: targets)
    } catch let error as StoreError {
      try refuse(error, key)
      return owner.number
    }
    var links = owner.links
    links[link.mapping.relationship] = digest.hash
    try ledger.update(owner, hash: owner.hash, run: owner.run, links: links, in: transaction)
    return owner.number
  }

  private func refuse(_ error: StoreError, _ key: RowKey) throws {
    // A record that has been deleted since has no links.
    if error.code == .missingRecord { return }
    guard let reject = Reject(refusal: error) else { throw error }
    try add(
      Reject(.linkRefused, link.mapping.relationship, reject.message), key, link.text(of: nil))
  }

  private func add(_ reject: Reject, _ key: RowKey, _ row: String) throws {
    // What is to be dropped is only counted.
    if resolution.drops(reject) { return }
    try log.add(
      reject, entity: link.entity, table: context.bound.tables[link.table].table.name,
      key: key.cells, identity: key.identity, row: row, isLink: true)
  }
}
