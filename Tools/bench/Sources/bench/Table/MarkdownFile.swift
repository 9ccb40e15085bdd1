import Foundation

/// Writes the tables of a run into Markdown files, between comments that name what is wanted.
///
///     <!-- bench sections: reads; writes -->
///     …
///     <!-- end of bench -->
///
/// is replaced by all tables of these sections, and `<!-- bench lines: get by string id; … -->` by
/// one table of these operations, each from the first section that has it. A part stays as it is if
/// the run has not measured all that its comment names.
struct MarkdownFile {
  private static let end = "<!-- end of bench -->"

  let results: Results
  /// The machine and the date of the measurement.
  let caption: String

  /// Replaces the marked parts of a file.
  ///
  /// - Throws: The errors of reading and writing; `candidate` for a comment without an end.
  func update(_ path: String) throws {
    let text = try String(contentsOfFile: path, encoding: .utf8)
    try updated(text, name: path).write(toFile: path, atomically: true, encoding: .utf8)
  }

  /// Returns the text with its marked parts replaced.
  func updated(_ text: String, name: String) throws -> String {
    let lines = text.components(separatedBy: "\n")
    var result: [String] = []
    var place = 0
    while place < lines.count {
      result.append(lines[place])
      defer { place += 1 }
      guard let tables = tables(for: lines[place]) else { continue }
      guard let end = lines[place...].firstIndex(of: Self.end) else {
        throw BenchError(.candidate, "\(name): no line \"\(Self.end)\" after \"\(lines[place])\"")
      }
      result += tables + [Self.end]
      place = end
    }
    return result.joined(separator: "\n")
  }

  /// Returns the lines for a comment; nil for another line, and for a comment that names something
  /// that was not measured.
  private func tables(for line: String) -> [String]? {
    if let titles = names(in: line, after: "<!-- bench sections: ") {
      let sections = results.sections.filter { titles.contains($0.title) }
      guard areMeasured(titles, of: sections.map(\.title)) else { return nil }
      return ["", caption + "."]
        + sections.flatMap { ["", "**\($0.heading)**"] + table(of: $0) } + [""]
    }
    if let names = names(in: line, after: "<!-- bench lines: ") {
      let measurements = names.compactMap { name in
        results.sections.lazy.flatMap(\.shown).first { $0.operation.name == name }
      }
      guard areMeasured(names, of: measurements.map(\.operation.name)) else { return nil }
      let section = Section(title: "", scope: "", rows: 0, measurements: measurements)
      return table(of: section) + ["", caption + ".", ""]
    }
    return nil
  }

  private func areMeasured(_ names: [String], of measured: [String]) -> Bool {
    let missing = names.filter { !measured.contains($0) }
    if !missing.isEmpty { reportProgress("not written: no \(missing.joined(separator: "; "))") }
    return missing.isEmpty
  }

  private func names(in line: String, after opening: String) -> [String]? {
    guard line.hasPrefix(opening), line.hasSuffix(" -->") else { return nil }
    let names = line.dropFirst(opening.count).dropLast(" -->".count).components(separatedBy: ";")
    return names.map { $0.trimmingCharacters(in: .whitespaces) }
  }

  private func table(of section: Section) -> [String] {
    let table = TextTable(section) { numberText($0.median) }
    let texts = [0, 1, table.headings.count - 1]
    let rule = table.headings.indices.map { texts.contains($0) ? "---" : "--:" }
    return ["", row(table.headings), "|\(rule.joined(separator: "|"))|"] + table.lines.map(row)
  }

  private func row(_ cells: [String]) -> String {
    "| \(cells.map { $0.trimmingCharacters(in: .whitespaces) }.joined(separator: " | ")) |"
  }
}
