import EntityModel
import EntityStore
import Foundation

/// The pairs of records that the source links by a relationship that is its own inverse. Each link stands
/// in the lists of both records, or in one of them: what the list of a record does not name may be its
/// link all the same.
final class LinkPairs {
  private let relationship: String
  private let keys: ScratchKeys

  /// - Returns: `nil` for any other relationship.
  init?(_ link: BoundLink, _ context: ImportContext) throws {
    guard link.isOwnInverse, case .join = link.source else { return nil }
    relationship = link.mapping.relationship
    keys = try ScratchKeys(in: context.database.scratchFolder)
    _ = try LinkReader(link, context).eachList { list in
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

  /// Of the records that are linked with one, those in whose lists it is.
  func others(of id: ObjectID, in snapshot: ReadTransaction) throws -> [ObjectID] {
    try snapshot.related(id, relationship).filter {
      try keys.contains(Self.bytes($0, id), in: 0)
    }
  }

  private static func bytes(_ one: ObjectID, _ other: ObjectID) -> [UInt8] {
    Array("\(one) \(other)".utf8)
  }
}
