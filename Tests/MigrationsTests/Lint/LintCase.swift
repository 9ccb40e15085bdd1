import EntityModel
import Testing

@testable import EntityStore
@testable import Migrations

/// Files, what a store has had of them, and what is found.
struct LintCase: Sendable, CustomTestStringConvertible {
  struct File: Sendable {
    let name: String
    let text: String
  }

  let testDescription: String
  var applied: [File] = []
  /// Those that are not applied, if no other are here.
  let files: [File]
  /// True if the files of the applied migrations are missing.
  var hidesApplied = false
  var codes: [MigrationCode] = []
  /// The expected findings, with the place as `LintFinding.place` writes it.
  let expected: [String]
  /// A part of the text or of the advice of the first finding.
  var says: String?

  init(
    _ name: String, applied: [File] = [], _ files: [File], hidesApplied: Bool = false,
    codes: [MigrationCode] = [], _ expected: [String], says: String? = nil
  ) {
    testDescription = name
    self.applied = applied
    self.files = files
    self.hidesApplied = hidesApplied
    self.codes = codes
    self.expected = expected
    self.says = says
  }

  func findings() throws -> [LintFinding] {
    var base = LintBase()
    var change = SchemaChange(schema: Schema())
    for file in applied {
      let migration = try file.migration()
      for step in migration.steps { try change.apply(step) }
      base.history.append(migration.entry(base.history.count + 1))
    }
    base.schema = change.schema
    return findings(against: base)
  }

  func findings(against base: LintBase) -> [LintFinding] {
    MigrationLint.findings(
      in: [.system, ((hidesApplied ? [] : applied) + files).source], against: base, codes: codes)
  }
}

extension LintCase.File {
  /// - Parameter steps: Each in one line, without its dash.
  static func file(
    _ line: String, _ name: String, requires: String = "", older: String = "read",
    summary: String = "s", _ steps: [String], down: [String] = []
  ) -> LintCase.File {
    let list = steps.map { "\n  - \($0)" }.joined()
    let back = down.isEmpty ? "" : "down:" + down.map { "\n  - \($0)" }.joined() + "\n"
    return LintCase.File(
      name: name,
      text: "line: \(line)\nsummary: \"\(summary)\"\nrequires: [\(requires)]\nolder: \(older)\n"
        + "steps:\(list)\n\(back)")
  }

  func migration() throws -> Migration {
    try MigrationFile.read(Array(text.utf8), name: name, file: name + ".yaml")
  }
}

extension [LintCase.File] {
  var source: MigrationSource {
    MigrationSource(embedded: map { (name: $0.name, bytes: [UInt8]($0.text.utf8)) })
  }
}

extension Migration {
  func entry(_ sequence: Int) -> AppliedMigration {
    AppliedMigration(
      line: line, version: version, name: name, checksum: checksum, appliedAt: 0,
      sequence: sequence, older: older, program: "p", creates: steps.flatMap(\.makes).map(\.text),
      isBaseline: nil)
  }
}

extension LintFinding {
  /// `error gap a 0003_x`, `warning destructive a 0001_x 2`
  var place: String {
    let words = [severity.rawValue, rule.rawValue, line, migration, step.map { "\($0)" }]
    return words.compactMap { $0 }.joined(separator: " ")
  }
}
