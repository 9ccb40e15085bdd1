import Foundation

/// What a figure is worth nothing without.
enum Machine {
  /// `AMD EPYC, 2 processors, 22 November 2026`.
  static func caption() throws -> String {
    let processor = try String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8)
      .split(separator: "\n").first { $0.hasPrefix("model name") }
      .flatMap { $0.split(separator: ":").last.map { $0.trimmingCharacters(in: .whitespaces) } }
    let date = Date.now.formatted(
      .verbatim(
        "\(day: .defaultDigits) \(month: .wide) \(year: .defaultDigits)",
        locale: Locale(identifier: "en_US"), timeZone: .gmt,
        calendar: Calendar(identifier: .gregorian)))
    let count = ProcessInfo.processInfo.activeProcessorCount
    return "\(processor ?? "unknown processor"), \(count) processors, \(date)"
  }
}
