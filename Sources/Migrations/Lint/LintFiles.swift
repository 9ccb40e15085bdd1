import EntityStore
import TextFormats

/// All files that can be read, and the lines that they form up to their first gap.
struct LintFiles {
  private(set) var findings: [LintFinding] = []
  /// All readable migrations, including those after a gap and both of two with the same number.
  private(set) var migrations: [Migration] = []
  private(set) var lines: [MigrationLine] = []
  /// The numbers of files that cannot be read. Their lines are not known.
  private var unreadable: Set<Int> = []

  /// Reads the files of all sources.
  ///
  /// - Parameter history: The applied migrations. They decide which of two files with the same
  ///   number is the one that was applied.
  init(_ sources: [MigrationSource], history: [AppliedMigration]) {
    for source in sources { read(source) }
    var names: [String] = []
    for migration in migrations where !names.contains(migration.line) {
      names.append(migration.line)
    }
    lines = names.map { name in
      let applied = history.filter { $0.line == name }
      return MigrationLine(name: name, migrations: chain(name, applied))
    }
  }

  private mutating func read(_ source: MigrationSource) {
    let files: [MigrationSource.File]
    do {
      files = try source.files()
    } catch {
      let folder = (error as? StoreError)?.context.first { $0.0 == "folder" }?.1
      findings.append(Self.unreadable(folder ?? "", error))
      return
    }
    for file in files {
      do {
        migrations.append(try file.migration())
      } catch {
        findings.append(Self.unreadable(file.name, error))
        if let number = Int(file.name.prefix { $0.isNumber }) { unreadable.insert(number) }
      }
    }
  }

  private static func unreadable(_ name: String, _ error: any Error) -> LintFinding {
    let text: String
    var advice = "correct the file at this place"
    if let error = error as? StoreError {
      text = error.finding
      advice = error.advice ?? advice
    } else {
      text = "\(error)"
    }
    return LintFinding(
      rule: .unreadableFile, severity: .error, line: nil, migration: name, step: nil, text: text,
      advice: advice)
  }

  // MARK: Lines

  /// Returns the files of a line up to its first gap.
  private mutating func chain(_ line: String, _ applied: [AppliedMigration]) -> [Migration] {
    let files = migrations.filter { $0.line == line }
      .sorted { ($0.version, $0.name) < ($1.version, $1.name) }
    let last = max(files.last?.version ?? 0, applied.count)
    var chain: [Migration] = []
    var previous: Migration?
    for version in Set(files.map(\.version)).sorted() {
      let group = files.filter { $0.version == version }
      let checksum = applied.first { $0.version == version }?.checksum
      guard let file = group.first(where: { $0.checksum == checksum }) ?? group.first else {
        continue
      }
      if group.count > 1 {
        findings.append(
          Self.sameNumber(group, file, after: previous, wasApplied: checksum, last: last))
      }
      findGap(before: file, after: previous?.version ?? 0)
      if version == chain.count + 1 { chain.append(file) }
      previous = file
    }
    return chain
  }

  private mutating func findGap(before file: Migration, after version: Int) {
    let missing = (version + 1..<file.version).filter { !unreadable.contains($0) }
    guard let first = missing.first else { return }
    let names = first.padded(to: 4) + (missing.count == 1 ? "" : " and others")
    findings.append(
      LintFinding(
        .gap, of: file, "the line has no \(names) before it",
        advice: "add the missing file, or name this one \(first.padded(to: 4))_…"))
  }

  private static func sameNumber(
    _ group: [Migration], _ file: Migration, after previous: Migration?,
    wasApplied checksum: String?, last: Int
  ) -> LintFinding {
    let names = group.map(\.name).joined(separator: " and ")
    let place = previous.map { "both follow \($0.name)" } ?? "both are the first of their line"
    guard Set(group.map(\.checksum)).count > 1 else {
      return LintFinding(
        .sameNumber, of: file, "the same file exists twice: \(names)", advice: "remove one")
    }
    let next = (last + 1).padded(to: 4)
    let others = group.filter { $0.checksum != file.checksum }
    guard file.checksum == checksum, let other = others.first else {
      return LintFinding(
        .sameNumber, of: group.last ?? file, "\(names) \(place)",
        advice: "two branches were merged: name the one that no store has had yet \(next)_…")
    }
    return LintFinding(
      .sameNumber, of: other, "\(names) \(place)",
      advice: "two branches were merged: \(file.name) has been applied here, so name "
        + "\(others.map(\.name).joined(separator: ", ")) \(next)_…")
  }
}
