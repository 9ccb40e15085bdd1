import EntityModel
import EntityStore
import FeedDocuments
import Foundation

/// What a listing as a whole means for the comparison of its items.
struct ListingRules: Sendable {
  let mode: FeedMode
  /// The data set is another one than that of the last run: its revisions started anew.
  let isNewEpoch: Bool
  /// What is stored was made of the feed by another mapping: its hashes cannot be compared, nor can
  /// its revisions, which may come from another place.
  let isNewMapping: Bool

  /// Whether revisions of earlier runs say nothing of those of this listing.
  var beginsAnew: Bool { isNewEpoch || isNewMapping }
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
  /// The same content but for what is volatile: written, but nothing has changed.
  case refreshed
  /// Older than what is stored, or listed twice.
  case outdated
  /// Two contents under one revision.
  case clash(isWon: Bool)

  /// - Parameter wasMet: The run has met the stored copy, so what is stored is of this listing.
  init(
    of item: MappedItem, over stored: StoredRow, _ rules: ListingRules, wasMet: Bool
  ) throws {
    self = try Verdict.ofContent(item, stored, rules, wasMet: wasMet)
    if case .unchanged = self,
      try item.volatile.contains(where: {
        try stored.value($0) != item.row[$0]
      })
    {
      self = .refreshed
    }
  }

  private static func ofContent(
    _ item: MappedItem, _ stored: StoredRow, _ rules: ListingRules, wasMet: Bool
  ) throws -> Verdict {
    let isSame = stored.int64(item.target.hash) == item.hash
    let old = stored.int64(item.target.revision)
    guard let revision = item.revision, let old else {
      return try withoutRevisions(item, stored, rules, isSame: isSame, wasMet: wasMet)
    }
    if rules.beginsAnew, !wasMet {
      return !isSame ? .changed : revision == old ? .unchanged : .sameContent
    }
    if revision != old { return revision < old ? .outdated : isSame ? .sameContent : .changed }
    if isSame { return wasMet ? .outdated : .unchanged }
    return .clash(isWon: Rank(of: item) > (try Rank(of: stored, item.target)))
  }

  private static func withoutRevisions(
    _ item: MappedItem, _ stored: StoredRow, _ rules: ListingRules, isSame: Bool, wasMet: Bool
  ) throws -> Verdict {
    // Of an item that a listing has twice the same copy counts, whichever comes first.
    if wasMet {
      return try !isSame && Rank(of: item) > Rank(of: stored, item.target) ? .changed : .outdated
    }
    if isSame { return .unchanged }
    if rules.mode == .delta, !rules.isNewMapping, let date = item.updatedAt,
      let position = item.target.updatedAt,
      case .date(let old) = try stored.value(position), date < old
    {
      return .outdated
    }
    return .changed
  }
}

/// An order of the copies of one item: the same on every replica, whatever came first. Total,
/// unless dates run against revisions.
///
/// The highest revision, else the newest date, else the larger hash. Of a deletion that names no
/// revision only the date counts. A deletion without a date is newer than any copy, and one under
/// the same revision, or of the same date, stands.
struct Rank: Comparable {
  private let revision: Int64?
  private let isDeletion: Bool
  private let date: Date
  private let hash: Int64

  init(of item: MappedItem) {
    revision = item.revision
    isDeletion = item.isDeleted
    date =
      item.isDeleted
      ? item.deletedAt ?? .distantFuture : Rank.date(item.target.updatedAt.map { item.row[$0] })
    hash = item.hash
  }

  init(of stored: StoredRow, _ target: FeedTarget) throws {
    revision = stored.int64(target.revision)
    isDeletion = false
    date = Rank.date(try target.updatedAt.map(stored.value))
    hash = stored.int64(target.hash) ?? .min
  }

  private static func date(_ value: Value?) -> Date {
    if case .date(let date) = value { date } else { .distantPast }
  }

  private var isUnnumberedDeletion: Bool { isDeletion && revision == nil }

  static func < (a: Rank, b: Rank) -> Bool {
    if a.revision != b.revision, !a.isUnnumberedDeletion, !b.isUnnumberedDeletion {
      return (a.revision ?? .min) < (b.revision ?? .min)
    }
    if a.revision == b.revision, a.revision != nil, a.isDeletion != b.isDeletion {
      return b.isDeletion
    }
    if a.date != b.date { return a.date < b.date }
    return a.isDeletion != b.isDeletion ? b.isDeletion : a.hash < b.hash
  }
}
