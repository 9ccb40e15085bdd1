import EntityModel
import EntityStore
import FeedDocuments
import Foundation

/// The properties of a listing that affect the comparison of its items.
struct ListingRules: Sendable {
  let mode: FeedMode
  /// True if the data set is another one than that of the last run: its revisions start again.
  let isNewEpoch: Bool
  /// True if the stored items were read by another mapping: neither hashes nor revisions can be
  /// compared.
  let isNewMapping: Bool

  /// True if revisions of earlier runs cannot be compared with those of this listing.
  var hasNewRevisions: Bool { isNewEpoch || isNewMapping }
}

/// The result of comparing an item with the stored one.
///
/// Items may come late, twice, or out of order. A higher revision wins. With equal revisions, equal
/// content changes nothing, and different content is a clash that every replica resolves in the
/// same way. Without revisions a newer date wins in a delta; in a listing the listed item wins,
/// because publishers do roll back.
enum Verdict {
  /// Different content, to be written.
  case changed
  /// The same content with a higher revision: written, so that it also outranks late copies.
  case sameContent
  case unchanged
  /// The same content except for volatile attributes: written, but not counted as changed.
  case refreshed
  /// Older than the stored item, or listed twice.
  case outdated
  /// Different content with the same revision.
  case clash(isWon: Bool)

  /// - Parameter wasMet: True if the run has seen the stored copy, which then is part of this
  ///   listing.
  init(
    of item: MappedItem, over stored: StoredRow, _ rules: ListingRules, wasMet: Bool
  ) throws {
    self = try Verdict.ofContent(item, stored, rules, wasMet: wasMet)
    if case .unchanged = self,
      try item.volatile.contains(where: {
        try stored.value($0) != item.row.value($0)
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
    if rules.hasNewRevisions, !wasMet {
      return !isSame ? .changed : revision == old ? .unchanged : .sameContent
    }
    if revision != old { return revision < old ? .outdated : isSame ? .sameContent : .changed }
    if isSame { return wasMet ? .outdated : .unchanged }
    return .clash(isWon: Rank(of: item) > (try Rank(of: stored, item.target)))
  }

  private static func withoutRevisions(
    _ item: MappedItem, _ stored: StoredRow, _ rules: ListingRules, isSame: Bool, wasMet: Bool
  ) throws -> Verdict {
    // If a listing contains an item twice, the same copy wins in any order.
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

/// The order of the copies of one item: the same on every replica, in whatever order they come.
/// Total, unless dates contradict revisions.
///
/// The highest revision wins, else the newest date, else the larger hash. For a deletion without
/// revision only the date counts. A deletion without a date is newer than any copy, and one with
/// the same revision or date wins.
struct Rank: Comparable {
  private let revision: Int64?
  private let isDeletion: Bool
  private let date: Date
  private var hash: Int64

  init(of item: MappedItem) {
    revision = item.revision
    isDeletion = item.isDeleted
    date =
      item.isDeleted
      ? item.deletedAt ?? .distantFuture : Rank.date(item.target.updatedAt.map(item.row.value))
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

  /// Returns true if more than the hash ranks it higher.
  func isNewer(than other: Rank) -> Bool {
    var same = self
    same.hash = other.hash
    return same > other
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
