import EntityStore
import Foundation

/// A copy of a store that was read back and found undamaged.
struct CheckedCopy {
  let storeID: UUID
  let token: HistoryToken
  let bytes: Int

  /// Checks a copy that no other process uses yet.
  ///
  /// - Parameter deeply: True to check also records, indexes and the change history.
  /// - Parameter place: The name of the copy in errors.
  /// - Throws: `damaged`, `notAStore`, `newerFormat`, a storage failure.
  init(folder: String, named place: String, deeply: Bool, options: Store.Options) throws {
    let report = try Store.check(at: folder, options: options, deeply: deeply)
    try CheckedCopy.requireSound(report, place)
    let store = try Store.openForReading(at: folder, options)
    storeID = try store.id
    token = try store.historyToken()
    bytes = try StoreFile(in: folder).mark()?.bytes ?? 0
  }

  private static func requireSound(_ report: StoreReport, _ place: String) throws {
    let count = report.problemCount + (report.integrity?.problemCount ?? 0)
    guard count > 0 else { return }
    let first = report.problems.first ?? report.integrity?.problems.first?.description ?? ""
    throw StoreError.damaged(place, problems: count, first: first)
  }
}

extension StoreError {
  static func damaged(_ place: String, problems: Int, first: String) -> StoreError {
    StoreError(
      .damaged, "the data is damaged",
      [("path", place), ("problems", String(problems)), ("first", first)],
      advice: "nothing was changed; run `mooring check` for the details; an older backup may be "
        + "undamaged")
  }
}
