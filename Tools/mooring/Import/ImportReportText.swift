import ArgumentParser
import Console
import LegacyImport

/// The result of a plan or a run for people: tables, then the exceptions, then the balance.
struct ImportReportText {
  /// The bound of each kind of lines that could be as many as there are rows.
  private static let linesMax = 20

  let report: ImportReport
  let examples: RejectExamples

  func write(_ output: inout StandardOutput) throws {
    for table in [tables, entities, relationships] where !table.isEmpty {
      try output.write(table)
      try output.write("\n")
    }
    let lines = unlisted + notes
    for line in lines { try output.write(line.singleLine + "\n") }
    if !lines.isEmpty { try output.write("\n") }
    for line in verdict { try output.write(line.singleLine + "\n") }
  }

  // MARK: Tables

  private var tables: TextTable {
    var table = Self.table(
      "table", ["rows", "accepted", "rejected", "skipped", "unreadable"])
    for row in report.tables where row.isWorthALine {
      table.append(
        [row.name, row.rows.map { Formatting.count($0) } ?? "?"]
          + Self.counts(row.accepted, row.rejected, row.skipped)
          + [(row.rows == nil ? "up to " : "") + Formatting.count(row.unreadable)])
    }
    return table
  }

  private var entities: TextTable {
    var table = Self.table(
      "entity",
      ["new", "changed", "unchanged"]
        + (report.isPlan ? [] : ["in store", "edited since", "deleted since"]))
    for (name, parts) in byTable where parts.contains(where: \.isWorthALine) {
      let written = Self.counts(
        parts.sum(\.written.new), parts.sum(\.written.changed), parts.sum(\.written.unchanged))
      let found = Self.counts(parts.sum(\.found), parts.sum(\.edited), parts.sum(\.deleted))
      table.append([name] + written + (report.isPlan ? [] : found))
    }
    return table
  }

  /// The parts of the report by table. Parts with the same table and entity make one line; an
  /// entity of several tables has a line for each, with its name.
  private var byTable: [(name: String, parts: [ImportReport.Entity])] {
    var groups: [(name: String, parts: [ImportReport.Entity])] = []
    for entity in report.entities {
      let isAlone = report.entities.allSatisfy {
        $0.name != entity.name || $0.table == entity.table
      }
      let name = isAlone ? entity.name : "\(entity.name) (\(entity.table))"
      if let place = groups.firstIndex(where: { $0.name == name }) {
        groups[place].parts.append(entity)
      } else {
        groups.append((name, [entity]))
      }
    }
    return groups
  }

  private var relationships: TextTable {
    var table = Self.table(
      "relationship", ["rows", "linked", "empty", "rejected", "dropped", "skipped"])
    for row in report.relationships where row.isWorthALine {
      table.append(
        [row.name]
          + Self.counts(
            row.rows, row.linked, row.empty, row.rejected, row.dropped, row.skipped))
    }
    return table
  }

  /// The number of lines that are left out because they would have nothing but zeros.
  private var unlisted: [String] {
    let counts = [
      (report.tables.filter { !$0.isWorthALine }.count, "table", "tables"),
      (byTable.filter { !$0.parts.contains(where: \.isWorthALine) }.count, "entity", "entities"),
      (
        report.relationships.filter { !$0.isWorthALine }.count, "relationship", "relationships"
      ),
    ]
    let parts = counts.filter { $0.0 > 0 }.map {
      "\(Formatting.count(Int64($0.0))) \($0.0 == 1 ? $0.1 : $0.2)"
    }
    if parts.isEmpty { return [] }
    return ["not listed, with zeros alone: \(parts.joined(separator: ", ")); --format json has all"]
  }

  private static func table(_ name: String, _ counts: [String]) -> TextTable {
    TextTable([.init(name)] + counts.map { .init($0, .number) })
  }

  private static func counts(_ counts: Int64...) -> [String] {
    counts.map { Formatting.count($0) }
  }

  // MARK: What is out of the ordinary

  private var notes: [String] {
    report.warnings.map { "warning: " + $0 } + missing + external + pruning + gone + rejects
  }

  private var missing: [String] {
    (report.missing ?? []).flatMap { rows in
      ["missing of \(rows.table): \(rows.count)"]
        + Self.some(rows.ranges, of: Int64(rows.ranges.count))
    }
  }

  private var external: [String] {
    guard let files = report.externalFiles else { return [] }
    let counts = Self.counts(files.referenced, files.found, files.missing, files.orphaned)
    return [
      "files beside the source: \(counts[0]) named by rows, \(counts[1]) found, "
        + "\(counts[2]) missing; \(counts[3]) that no row names"
    ]
  }

  private var pruning: [String] {
    guard let pruning = report.pruning else { return [] }
    var lines = [
      "records deleted because their rows are no longer in the source: "
        + Formatting.count(pruning.deleted)
    ]
    if pruning.denied > 0 {
      lines.append(
        "records that stay, since a delete rule protects them: \(Formatting.count(pruning.denied))")
    }
    if pruning.matched > 0 {
      lines.append(
        "records that stay, since they may have been there before the import (match): "
          + Formatting.count(pruning.matched))
    }
    return lines
  }

  private var gone: [String] {
    guard report.gone > 0 else { return [] }
    return [
      "no longer in the source since an earlier run: \(Formatting.count(report.gone)); their "
        + "records stay"
    ] + Self.some(report.goneRows, of: report.gone)
  }

  private var rejects: [String] {
    report.rejects.sorted { $0.key < $1.key }.filter { $0.value > 0 }.flatMap { code, count in
      ["rejected as \(code): \(Formatting.count(count))"]
        + Self.some(examples.lines(of: code), of: count)
    }
  }

  private static func some(_ lines: [String], of count: Int64) -> [String] {
    let shown = lines.prefix(linesMax)
    let left = count - Int64(shown.count)
    let rest = left > 0 && !shown.isEmpty ? ["  and \(Formatting.count(left)) more"] : []
    return shown.map { "  " + $0 } + rest
  }

  // MARK: Whether it adds up

  private var verdict: [String] {
    var lines: [String] = []
    if report.isBalanced {
      lines.append(
        report.isPlan
          ? "BALANCED: every row and every link is accounted for"
          : "BALANCED: every row and every link is accounted for, and the store has what the "
            + "source says"
      )
      if report.missingAtMost > 0 {
        lines.append(
          "up to \(Formatting.count(report.missingAtMost)) rows are missing, as --missing allows"
        )
      }
    } else {
      lines.append("NOT BALANCED:")
      let problems = problems
      lines += Self.some(problems, of: Int64(problems.count))
    }
    if !report.isWithinLimit {
      lines.append(
        "\(Formatting.count(report.rejected)) rejected, where the mapping allows "
          + "\(Formatting.count(report.rejectsAllowed)): correct the mapping, or raise its "
          + "`rejects`"
      )
    }
    if let pruning = report.pruning, pruning.refused > 0 {
      lines.append(
        "DELETIONS REFUSED: the rows of \(Formatting.count(pruning.refused)) of "
          + "\(Formatting.count(pruning.known)) records are no longer in the source, so none was "
          + "deleted; if that is right, run again with --prune --allow-deletions")
    }
    return lines
  }

  private var problems: [String] {
    var lines: [String] = []
    for table in report.tables where !table.isBalanced {
      lines += table.problems.map { "\(table.name): \($0)" }
      let known = table.accepted + table.rejected + table.skipped + table.unreadable
      if let rows = table.rows, rows != known {
        lines.append(
          "\(table.name): \(Formatting.count(rows)) rows, and \(Formatting.count(known)) "
            + "accounted for"
        )
      }
    }
    for entity in report.entities where !entity.isBalanced {
      lines += entity.problems.map { "\(entity.name): \($0)" }
      if entity.expected != entity.found + entity.deleted {
        lines.append(
          "\(entity.name): \(Formatting.count(entity.expected)) records are expected, "
            + "\(Formatting.count(entity.found)) are there")
      }
    }
    for link in report.relationships where !link.isBalanced {
      lines += link.problems.map { "\(link.name): \($0)" }
      let known = link.linked + link.empty + link.rejected + link.dropped + link.skipped
      if link.rows != known {
        lines.append(
          "\(link.name): \(Formatting.count(link.rows)) rows, and \(Formatting.count(known)) "
            + "accounted "
            + "for")
      }
    }
    let allowed = report.missingAllowed ?? 0
    if report.missingAtMost > allowed {
      lines.append(
        "up to \(Formatting.count(report.missingAtMost)) rows are missing, where "
          + "\(Formatting.count(allowed)) are allowed: if no better copy of the file is at hand, "
          + "allow them with --missing \(report.missingAtMost)")
    }
    return lines
  }
}

extension ImportReport.Table {
  fileprivate var isWorthALine: Bool {
    rows.map { $0 != 0 } ?? true || !isBalanced
      || accepted + rejected + skipped + unreadable + Int64(unreadableRows.count) > 0
  }
}

extension ImportReport.Entity {
  fileprivate var isWorthALine: Bool {
    !isBalanced
      || written.new + written.changed + written.unchanged + found + edited + deleted > 0
  }
}

extension ImportReport.Relationship {
  fileprivate var isWorthALine: Bool {
    !isBalanced || rows + linked + empty + rejected + dropped + skipped > 0
  }
}

extension [ImportReport.Entity] {
  fileprivate func sum(_ count: (ImportReport.Entity) -> Int64) -> Int64 {
    reduce(0) { $0 + count($1) }
  }
}

extension ImportReport {
  /// - Throws: Exit status 65 if it does not add up, more was rejected than is allowed, or records
  ///   were not pruned because they are most of them.
  func requireSuccess() throws {
    if isBalanced, isWithinLimit, pruning?.refused ?? 0 == 0 { return }
    throw ExitStatus.badData.exitCode
  }
}
