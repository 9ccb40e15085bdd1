import EntityStore

/// An error in migration files, or a warning for their author.
public struct LintFinding: Codable, Hashable, Sendable {
  /// The kind of a finding. The names are stable; MigrationFileReference.md describes each.
  public enum Rule: String, Codable, Hashable, Sendable, CaseIterable {
    // One file, and its place in the line.
    case unreadableFile, emptySummary, noSteps, gap, sameNumber
    // The files, compared with the migrations that were applied to a store.
    case changedFile, displacedFile, newerStore, missingFile, changedStep, beingTakenBack
    // Requirements between lines.
    case missingRequirement, circularRequirement, undeclaredRequirement, collision
    // A step, compared with the schema at that point.
    case misfit, brokenTemplate, systemEntity, unregisteredCode
    // The effects of a step on records and programs.
    case destructive, dataDependent, incompatible
    // The `down` steps.
    case misfitDown, differentDown
  }

  /// The severity of a finding.
  public enum Severity: String, Codable, Hashable, Sendable, CaseIterable {
    /// `migrate up` would fail, or data would be lost without a report.
    case error
    /// The migration works, or its success depends on records, which are not read.
    case warning
  }

  public let rule: Rule
  public let severity: Severity
  /// The name of the line; `nil` for a file that cannot be read.
  public let line: String?
  /// The file name without its extension; for a folder that cannot be read, its path.
  public let migration: String
  /// The number of the step within the migration, from 1; for `misfitDown`, within its `down`
  /// steps.
  public let step: Int?
  /// A description of the finding, in one line.
  public let text: String
  /// The advice for the author, in one line.
  public let advice: String
}

extension LintFinding {
  init(
    _ rule: Rule, _ severity: Severity = .error, of migration: Migration, step: Int? = nil,
    _ text: String, advice: String
  ) {
    self.init(
      rule: rule, severity: severity, line: migration.line, migration: migration.name, step: step,
      text: text, advice: advice)
  }
}

extension LintFinding: CustomStringConvertible {
  /// The finding as text: `error: local 0002_labels, step 3: DESCRIPTION; ADVICE (RULE)`.
  public var description: String {
    let place = [line, migration].compactMap { $0 }.joined(separator: " ")
    let number = step.map { ", step \($0)" } ?? ""
    return "\(severity.rawValue): \(place)\(number): \(text); \(advice) (\(rule.rawValue))"
  }
}

extension StoreError {
  /// The description without the advice.
  var finding: String {
    StoreError(code, summary, context).description
  }
}
