import DurableJobs
import Foundation
import Testing

/// An instant as ISO 8601 writes it, in UTC.
func instant(_ text: String) throws -> Date {
  try Date(text, strategy: .iso8601)
}

func zone(_ name: String) throws -> TimeZone {
  try #require(TimeZone(identifier: name))
}

extension CronExpression {
  /// The times after `start` and before `end`.
  func times(after start: Date, before end: Date, in zone: TimeZone) -> [Date] {
    var times: [Date] = []
    var last = start
    while let next = next(after: last, in: zone), next < end {
      times.append(next)
      // Would go on for ever.
      guard next > last else { break }
      last = next
    }
    return times
  }
}
