import EntityStore
public import Foundation

/// The result of a check of a whole store, as the file `check.json` in the store's folder has it. A
/// backup has a file of its own, so that it is known when the copy was verified.
public struct RecordedCheck: Codable, Hashable, Sendable {
  /// The time of its end.
  public let at: Date
  /// The number of problems that it has found.
  public let problems: Int

  private static let name = "check.json"

  /// Returns the last check of the store in a folder; nil if none is recorded.
  public static func last(at folder: String) -> RecordedCheck? {
    StoreNote.read(name, inStore: folder)
  }

  /// Records the end of a check, in place of the one before. Does nothing for a
  /// user who may not write to the folder.
  public static func record(_ report: StoreReport, at now: Date, inStore folder: String) {
    let problems = report.problemCount + (report.integrity?.problemCount ?? 0)
    _ = StoreNote.write(
      RecordedCheck(at: now, problems: problems), name, inStore: folder)
  }
}
