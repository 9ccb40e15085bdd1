import EntityModel
import EntityStore
import Foundation

/// The pairs of records that the source links by a relationship that is its own inverse. A link may
/// be in the lists of both records, or of one: a record may have a link that its own list does not
/// contain.
final class LinkPairs {
  private let relationship: String
  private let keys: ScratchKeys

  /// - Returns: `nil` for any other relationship.
  init?(_ link: BoundLink, _ context: ImportContext) throws {
    guard link.isOwnInverse, case .join = link.source else { return nil }
    relationship = link.mapping.relationship
    keys = try ScratchKeys(in: context.database.scratchFolder)
    let reader = try LinkReader(link, context)
    while let list = try reader.nextList() {
      try context.checkCancellation()
      try context.target.read { snapshot in
        let ledger = try ImportLedger(in: snapshot)
        guard let key = list.owner, let owner = try ledger.entry(of: key.identity) else { return }
        for case let target? in list.targets {
          guard let entry = try ledger.entry(of: target.identity) else { continue }
          _ = try keys.insert(Self.bytes(owner.objectID, entry.objectID), in: 0)
        }
      }
    }
  }

  /// Returns the records that are linked with this one and whose lists contain it.
  func others(of id: ObjectID, in snapshot: ReadTransaction) throws -> [ObjectID] {
    try snapshot.related(id, relationship).filter {
      try keys.contains(Self.bytes($0, id), in: 0)
    }
  }

  private static func bytes(_ one: ObjectID, _ other: ObjectID) -> [UInt8] {
    Array("\(one) \(other)".utf8)
  }
}
