import EntityStore

/// Something that is wrong with migration files, or that their author should know.
public struct LintFinding: Codable, Hashable, Sendable {
  /// What was found. The names are stable; Migrations/README.md says what each means.
  public enum Rule: String, Codable, Hashable, Sendable, CaseIterable {
    // One file, and its place in the line.
    case unreadableFile, emptySummary, noSteps, gap, sameNumber
    // The files and what a store has had.
    case changedFile, displacedFile, newerStore, missingFile, changedStep, beingTakenBack
    // Lines that need each other.
    case missingRequirement, circularRequirement, undeclaredRequirement, collision
    // A step and the schema at that point.
    case misfit, brokenTemplate, systemEntity, unregisteredCode
    // What a step does to records and to programs.
    case destructive, dataDependent, incompatible
    // The way back.
    case misfitDown, differentDown
  }

  public enum Severity: String, Codable, Hashable, Sendable, CaseIterable {
    /// `migrate up` would fail, or something is lost and nobody is told.
    case error
    /// It works, or depends on records that are not looked at.
    case warning
  }

  public let rule: Rule
  public let severity: Severity
  /// `nil` for a file that cannot be read.
  public let line: String?
  /// The name of its file without the extension; of a folder that cannot be read its path.
  public let migration: String
  /// From 1, of the migration's steps; for `misfitDown` of its `down` steps.
  public let step: Int?
  /// What was found, in one line.
  public let text: String
  /// What to do, in one line.
  public let advice: String

  init(
    _ rule: Rule, _ severity: Severity, line: String?, migration: String, step: Int? = nil,
    _ text: String, advice: String
  ) {
    self.rule = rule
    self.severity = severity
    self.line = line
    self.migration = migration
    self.step = step
    self.text = text
    self.advice = advice
  }

  init(
    _ rule: Rule, _ severity: Severity = .error, of migration: Migration, step: Int? = nil,
    _ text: String, advice: String
  ) {
    self.init(
      rule, severity, line: migration.line, migration: migration.name, step: step, text,
      advice: advice)
  }
}

extension LintFinding: CustomStringConvertible {
  /// `error: local 0002_notes, step 3: what was found; what to do (rule)`
  public var description: String {
    let place = [line, migration].compactMap { $0 }.joined(separator: " ")
    let number = step.map { ", step \($0)" } ?? ""
    return "\(severity.rawValue): \(place)\(number): \(text); \(advice) (\(rule.rawValue))"
  }
}

extension StoreError {
  /// What is wrong, without what to do.
  var finding: String {
    StoreError(code, summary, context, underlying: underlying).description
  }
}
