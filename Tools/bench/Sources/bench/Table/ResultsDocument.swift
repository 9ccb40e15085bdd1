import Foundation

extension Results {
  /// Returns `{"machine", "isQuick", "sections": [{"section", "scope", "rows", "operations":
  /// [{"operation", "unit", "better": "higher"|"lower", "results": [{"candidate", "median",
  /// "lowest", "highest", "samples"}], "ratioToSQLite", "bar": {"text", "reached", "isMet"},
  /// "note"}]}]}`. A candidate without the operation is left out of its results, and so are a
  /// ratio and a bar that an operation does not have.
  func json() throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
    // A value that is not a number must not discard the others of a long run.
    encoder.nonConformingFloatEncodingStrategy = .convertToString(
      positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
    return String(decoding: try encoder.encode(try Document(self)), as: UTF8.self)
  }
}

private struct Document: Encodable {
  struct Part: Encodable {
    let section: String
    let scope: String
    let rows: Int
    let operations: [Line]
  }

  struct Line: Encodable {
    let operation: String
    let unit: String
    let better: String
    let results: [Entry]
    let ratioToSQLite: Double?
    let bar: BarEntry?
    let note: String?
  }

  struct Entry: Encodable {
    let candidate: String
    let median: Double
    let lowest: Double
    let highest: Double
    let samples: [Double]
  }

  struct BarEntry: Encodable {
    let text: String
    let reached: Double
    let isMet: Bool
  }

  let machine: String
  let isQuick: Bool
  let sections: [Part]

  init(_ results: Results) throws {
    machine = try Machine.caption()
    isQuick = results.isQuick
    sections = results.sections.map { section in
      Part(
        section: section.title, scope: section.scope, rows: section.rows,
        operations: section.measurements.map(Line.init))
    }
  }
}

extension Document.Line {
  fileprivate init(_ measurement: Measurement) {
    self.init(
      operation: measurement.operation.name, unit: measurement.operation.unit,
      better: measurement.operation.better.rawValue,
      results: CandidateName.allCases.compactMap { candidate in
        measurement.summary(of: candidate).map { summary in
          Document.Entry(
            candidate: candidate.rawValue, median: summary.median, lowest: summary.lowest,
            highest: summary.highest, samples: measurement.samples[candidate] ?? [])
        }
      },
      ratioToSQLite: measurement.timesSQLite,
      bar: measurement.verdict.map {
        Document.BarEntry(text: $0.bar.text, reached: $0.reached, isMet: $0.isMet)
      },
      note: measurement.note)
  }
}

/// The machine that the benchmark runs on.
enum Machine {
  /// Returns the processor and the date: `AMD EPYC, 2 processors, 22 November 2026`.
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
