import EntityModel
import EntityStore
import SystemSupport

/// The second pass of a run: the records are linked.
///
/// A link is written if one of its two rows has been written in this run, or if a list has changed.
/// All other links stay as they are, even if they have been changed since. After an interruption
/// the pass starts from the first link; links that exist already are not written again.
struct LinkPass {
  let context: ImportContext
  let chunks: ImportChunks

  func run() throws {
    for (number, link) in context.bound.links.enumerated() {
      switch link.source {
      case .columns: try writeReferences(link, number)
      case .join: try writeLists(link, number)
      }
    }
  }

  private func writeReferences(_ link: BoundLink, _ number: Int) throws {
    let reader = try LinkReader(link, context)
    let claims = try LinkClaims(link, context)
    try write({ try reader.nextReferences() }, of: link, number, claims, nil) { writer, reference in
      try writer.write(reference)
    }
  }

  private func writeLists(_ link: BoundLink, _ number: Int) throws {
    let reader = try LinkReader(link, context)
    let claims = try LinkClaims(link, context)
    let pairs = try LinkPairs(link, context)
    var owners = NumberSet()
    try write(
      { try reader.nextLists() }, size: \.rows.count, of: link, number, claims, pairs
    ) { writer, list in
      if let number = try writer.write(list) { owners.insert(number) }
    }
    try clearLists(link, except: owners, pairs)
  }

  private func write<Element>(
    _ next: () throws -> [Element], size: (Element) -> Int = { _ in 1 }, of link: BoundLink,
    _ number: Int, _ claims: LinkClaims, _ pairs: LinkPairs?,
    _ body: (LinkWriter, Element) throws -> Void
  ) throws {
    var done: Int64 = 0
    try chunks.run(
      next, size: size, with: { try LinkWriter(link, claims, pairs, context, in: $0) },
      committed: { rows in
        done += Int64(rows)
        context.progress(ImportProgress(stage: .links, name: link.name, done: done, total: 0))
      }
    ) { writer, element, checkpoint in
      try body(writer, element)
      checkpoint.stage = .links(number, after: nil)
    }
  }

  /// Removes the links of records whose lists the source had in an earlier run and no longer has.
  private func clearLists(
    _ link: BoundLink, except owners: NumberSet, _ pairs: LinkPairs?
  ) throws {
    let relationship = link.mapping.relationship
    var stale: [Int64] = []
    try context.target.read { snapshot in
      try ImportLedger(in: snapshot).each(of: context.source) { entry, _, _ in
        if entry.entity == link.entity, entry.links[relationship] != nil,
          !owners.contains(entry.number)
        {
          stale.append(entry.number)
        }
      }
    }
    try chunks.run(over: stale, with: { ($0, try ImportLedger(in: $0)) }) { writer, number, _ in
      let (transaction, ledger) = writer
      guard let entry = try ledger.entry(at: number) else { return }
      var links = entry.links
      links[relationship] = nil
      if try transaction.get(entry.objectID) != nil {
        try transaction.setRelated(
          entry.objectID, relationship,
          to: try pairs?.others(of: entry.objectID, in: transaction) ?? [])
      }
      try ledger.update(entry, hash: entry.hash, run: entry.run, links: links, in: transaction)
    }
  }
}
