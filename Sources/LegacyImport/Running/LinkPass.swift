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
