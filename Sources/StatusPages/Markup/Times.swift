import Console
import EntityModel
import Foundation

/// Texts of times and quantities, relative to the time of a page.
struct Times: Sendable {
  let now: Date

  /// `4 min ago`, with the exact time as its title.
  func cell(_ date: Date?, otherwise: String = "") -> WebTable.Cell {
    guard let date, abs(date.timeIntervalSince(now)) < 1e9 else { return WebTable.Cell(otherwise) }
    let exact = Self.exact(date)
    return WebTable.Cell(
      exact, html: "<time datetime=\"\(exact)\" title=\"\(exact)\">\(relative(date))</time>")
  }

  func relative(_ date: Date) -> String {
    let seconds = date.timeIntervalSince(now)
    let text = Formatting.duration(.seconds(abs(seconds).rounded()))
    return seconds > 0 ? "in \(text)" : "\(text) ago"
  }

  /// RFC 3339 in whole seconds.
  static func exact(_ date: Date) -> String {
    Value.date(Date(timeIntervalSince1970: date.timeIntervalSince1970.rounded(.down))).text
  }

  static func count(_ number: Int) -> String { Formatting.count(Int64(number)) }
  static func bytes(_ number: Int) -> String { Formatting.bytes(Int64(number)) }
  static func duration(_ seconds: Double) -> String { Formatting.duration(.seconds(seconds)) }
}
