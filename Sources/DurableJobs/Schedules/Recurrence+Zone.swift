import EntityModel
public import Foundation
import TextFormats

extension Recurrence {
  /// A zone of the IANA database by its name: `UTC`, `GMT`, or area and place as `Europe/Berlin`.
  ///
  /// Foundation knows `EST` and `GMT+1` too. They are refused: such zones have no changes of the
  /// clock, which a schedule of local times is rarely meant to ignore.
  /// - Throws: `JobError` with the code `invalidSchedule`, which names the nearest zone.
  public static func zone(named name: String) throws -> TimeZone {
    let isFormal = ["UTC", "GMT"].contains(name) || name.contains("/")
    guard isFormal, let zone = TimeZone(identifier: name) else {
      let names = TimeZone.knownTimeZoneIdentifiers.filter { $0.contains("/") } + ["UTC"]
      throw JobError(
        .invalidSchedule, "a zone is unknown", [("zone", "\"\(name)\"")],
        advice: NearestName.advice(
          on: name, among: names, otherwise: "write UTC, or area and place as Europe/Berlin"))
    }
    return zone
  }
}
