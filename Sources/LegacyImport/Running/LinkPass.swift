import EntityModel
import EntityStore

/// Links the records of a run. A link is made where one of its two rows has been written in this run, or
/// a list is not what it was; all others stay as they are, whatever has become of them since.
///
/// After an interruption the links are walked anew from their beginning: those that are made already are
/// found to be so.
struct LinkPass {
  private let context: ImportContext
  private let write: ChunkedWrite<ImportFrontier>

  init(_ context: ImportContext, _ write: ChunkedWrite<ImportFrontier>) {
    self.context = context
    self.write = write
  }

  func run(_ frontier: inout ImportFrontier) throws {
    while case .links(let number, _) = frontier.stage, number < context.bound.links.count {
      let link = context.bound.links[number]
      switch link.source {
      case .columns: try linkReferences(link, number, &frontier)
      case .join: try linkLists(link, number, &frontier)
      }
      frontier.stage = .links(number + 1, after: nil)
    }
    frontier.stage = .verification
  }

  // MARK: To one

  private func linkReferences(
    _ link: BoundLink, _ number: Int, _ frontier: inout ImportFrontier
  ) throws {
    let reader = try LinkReader(link, context)
    let claims = try LinkClaims(link, context)
    var done: Int64 = 0
    var chunk: [LinkReader.Reference] = []
    func commit() throws {
      var rest = chunk[...]
      while !rest.isEmpty {
        try context.checkCancellation()
        (rest, frontier) = try self.commit(rest, link, claims, number, frontier)
      }
      done += Int64(chunk.count)
      chunk.removeAll(keepingCapacity: true)
      context.progress(ImportProgress(stage: .links, name: link.name, done: done, total: 0))
    }
    _ = try reader.eachReference { reference in
      chunk.append(reference)
      if chunk.count == Limits.chunkRowsMax { try commit() }
    }
    try commit()
  }

  private func commit(
    _ references: ArraySlice<LinkReader.Reference>, _ link: BoundLink, _ claims: LinkClaims,
    _ number: Int, _ frontier: ImportFrontier
  ) throws -> (ArraySlice<LinkReader.Reference>, ImportFrontier) {
    try context.target.write { transaction in
      var frontier = frontier
      var rest = references
      let writer = try LinkWriter(link, claims, nil, context, in: transaction)
      let deadline = ContinuousClock.now + EntityStore.Limits.chunkDuration
      repeat {
        try writer.write(rest.removeFirst())
        frontier.stage = .links(number, after: nil)
      } while !rest.isEmpty && ContinuousClock.now < deadline
      try write.save(.init(frontier: frontier, rows: 0, chunks: 0), in: transaction)
      return (rest, frontier)
    }
  }

  // MARK: To many

  private func linkLists(
    _ link: BoundLink, _ number: Int, _ frontier: inout ImportFrontier
  ) throws {
    frontier.stage = .links(number, after: nil)
    let claims = try LinkClaims(link, context)
    let pairs = try LinkPairs(link, context)
    var owners = NumberSet()
    var chunk: [LinkReader.List] = []
    var size = 0
    var done: Int64 = 0
    func commit() throws {
      var rest = chunk[...]
      while !rest.isEmpty {
        try context.checkCancellation()
        rest = try context.target.write { transaction in
          var rest = rest
          let writer = try LinkWriter(link, claims, pairs, context, in: transaction)
          let deadline = ContinuousClock.now + EntityStore.Limits.chunkDuration
          repeat {
            if let number = try writer.write(rest.removeFirst()) { owners.insert(number) }
          } while !rest.isEmpty && ContinuousClock.now < deadline
          return rest
        }
      }
      done += Int64(size)
      (chunk, size) = ([], 0)
      context.progress(ImportProgress(stage: .links, name: link.name, done: done, total: 0))
    }
    _ = try LinkReader(link, context).eachList { list in
      chunk.append(list)
      size += list.rows.count
      if size >= Limits.chunkRowsMax { try commit() }
    }
    try commit()
    try emptyLists(link, besides: owners, pairs)
  }

  /// Takes the links from records whose lists the source had before and has no more.
  private func emptyLists(
    _ link: BoundLink, besides owners: NumberSet, _ pairs: LinkPairs?
  ) throws {
    var emptied: [Int64] = []
    try context.target.read { snapshot in
      try ImportLedger(in: snapshot).each(of: context.source) { entry, _, _ in
        if entry.entity == link.entity, entry.links[link.mapping.relationship] != nil,
          !owners.contains(entry.number)
        {
          emptied.append(entry.number)
        }
      }
    }
    while !emptied.isEmpty {
      let part = emptied.prefix(Limits.chunkRowsMax / 10)
      emptied.removeFirst(part.count)
      try context.target.write { transaction in
        let ledger = try ImportLedger(in: transaction)
        for number in part {
          guard let entry = try ledger.entry(at: number) else { continue }
          var links = entry.links
          links[link.mapping.relationship] = nil
          if try transaction.get(entry.objectID) != nil {
            try transaction.setRelated(
              entry.objectID, link.mapping.relationship,
              to: try pairs?.others(of: entry.objectID, in: transaction) ?? [])
          }
          try ledger.renote(entry, hash: entry.hash, run: entry.run, links: links, in: transaction)
        }
      }
    }
  }
}

/// Makes single links within a transaction.
private struct LinkWriter {
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
    resolution = LinkResolution(link, context)
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

  /// That another row had what this one leads to: when it has it no more, the link is to be made though
  /// neither of its rows has changed.
  private func note(_ owner: LedgerEntry, wasTaken: Bool) throws {
    var links = owner.links
    links[link.mapping.relationship] = wasTaken ? 1 : nil
    if links == owner.links { return }
    try ledger.renote(owner, hash: owner.hash, run: owner.run, links: links, in: transaction)
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
    // Nobody's: in the table of the others themselves that is one of them without an owner.
    guard let key = list.owner else { return nil }
    guard let owner = try ledger.entry(of: key.identity) else {
      let reject = try resolution.missing(key)
      for row in list.rows { try add(reject, key, row) }
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
          try add(resolution.taken(target), key, list.rows[number])
          continue
        }
        targets.append(entry.objectID)
        isTouched = isTouched || entry.run == context.run
      case .elsewhere: continue
      case .rejected(let reject): try add(reject, key, list.rows[number])
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
    try ledger.renote(owner, hash: owner.hash, run: owner.run, links: links, in: transaction)
    return owner.number
  }

  private func refuse(_ error: StoreError, _ key: RowKey) throws {
    // A record that somebody has deleted since has no links.
    if error.code == .missingRecord { return }
    guard let reject = Reject(refusal: error) else { throw error }
    try add(
      Reject(.linkRefused, link.mapping.relationship, reject.message), key, link.text(of: nil))
  }

  private func add(_ reject: Reject, _ key: RowKey, _ row: SourceRow) throws {
    try add(reject, key, row.text)
  }

  private func add(_ reject: Reject, _ key: RowKey, _ row: String) throws {
    // What is to be dropped is only counted.
    if reject.code == Reject.Code.orphan.rawValue, link.mapping.orphan == .drop { return }
    try log.add(
      reject, entity: link.entity, table: context.bound.tables[link.table].table.name,
      key: key.cells, identity: key.identity, row: row, isLink: true)
  }
}

/// What a link leads to.
struct LinkResolution {
  enum Target {
    case found(LedgerEntry)
    /// A record of another entity, to which another relationship may lead.
    case elsewhere
    case rejected(Reject)
  }

  private let link: BoundLink
  private let context: ImportContext

  init(_ link: BoundLink, _ context: ImportContext) {
    self.link = link
    self.context = context
  }

  func target(_ key: RowKey, in ledger: ImportLedger) throws -> Target {
    if let entry = try ledger.entry(of: key.identity) {
      return entry.entity == link.destination ? .found(entry) : .elsewhere
    }
    return .rejected(try missing(key))
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
