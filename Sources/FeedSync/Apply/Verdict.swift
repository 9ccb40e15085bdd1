import EntityModel
import EntityStore
import Foundation

/// What a listing as a whole means for the comparison of its items.
struct ListingRules: Sendable {
  let mode: FeedMode
  /// The data set is another one than that of the last run: its revisions started anew.
  let isNewEpoch: Bool
}

/// What becomes of an item that the store has already.
///
/// The rules are those of an event that may come late, twice, or out of order: a higher revision
/// wins; under an equal one equal content is nothing, and different content is a clash that every
/// replica settles alike; without revisions a newer date wins over an older one in a delta, and a
/// listing wins over dates, because publishers do roll back.
enum Verdict {
  /// Other content, to be written.
  case changed
  /// The same content under a higher revision: written, so that it outranks late copies, too.
  case sameContent
  case unchanged
  /// Older than what is stored, or listed twice.
  case outdated
  /// Two contents under one revision.
  case clash(isWon: Bool)

  /// - Parameter wasMet: The run has met the stored copy, so what is stored is of this listing.
  init(
    of item: MappedItem, over stored: StoredRow, _ rules: ListingRules, wasMet: Bool
  ) throws {
    let isSame = stored.int64(item.target.hash) == item.hash
    let old = stored.int64(item.target.revision)
    guard let revision = item.revision, let old else {
      self = try Verdict.withoutRevisions(item, stored, rules, isSame: isSame, wasMet: wasMet)
      return
    }
    if rules.isNewEpoch, !wasMet {
      self = !isSame ? .changed : revision == old ? .unchanged : .sameContent
    } else if revision != old {
      self = revision < old ? .outdated : isSame ? .sameContent : .changed
    } else if isSame {
      self = wasMet ? .outdated : .unchanged
    } else {
      let other = Rank(
        revision: old, isDeletion: false,
        date: try Rank.date(item.target.updatedAt.map(stored.value)),
        hash: stored.int64(item.target.hash) ?? .min)
      self = .clash(isWon: Rank(of: item, revision) > other)
    }
  }

  private static func withoutRevisions(
    _ item: MappedItem, _ stored: StoredRow, _ rules: ListingRules, isSame: Bool, wasMet: Bool
  ) throws -> Verdict {
    // The first place of an item that a listing has twice counts, or each sync would write both.
    if wasMet { return .outdated }
    if isSame { return .unchanged }
    if rules.mode == .delta, let date = item.updatedAt, let position = item.target.updatedAt,
      case .date(let old) = try stored.value(position), date < old
    {
      return .outdated
    }
    return .changed
  }
}

/// A total order of the copies of one item: the same on every replica, whatever came first.
struct Rank: Comparable {
  let revision: Int64
  let isDeletion: Bool
  let date: Date
  let hash: Int64

  init(revision: Int64, isDeletion: Bool, date: Date, hash: Int64) {
    self.revision = revision
    self.isDeletion = isDeletion
    self.date = date
    self.hash = hash
  }

  init(of item: MappedItem, _ revision: Int64) {
    self.init(
      revision: revision, isDeletion: item.isDeleted,
      date: Rank.date(item.target.updatedAt.map { item.row[$0] }), hash: item.hash)
  }

  static func date(_ value: Value?) -> Date {
    if case .date(let date) = value { date } else { .distantPast }
  }

  static func < (a: Rank, b: Rank) -> Bool {
    if a.revision != b.revision { return a.revision < b.revision }
    if a.isDeletion != b.isDeletion { return b.isDeletion }
    return a.date != b.date ? a.date < b.date : a.hash < b.hash
  }
}
