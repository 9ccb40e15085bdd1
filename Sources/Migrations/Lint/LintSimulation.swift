import EntityModel
import EntityStore

/// Applies the pending migrations to a copy of the schema, step by step, and continues after a step
/// that is refused.
struct LintSimulation {
  private(set) var findings: [LintFinding] = []
  private let base: LintBase
  private let codes: [MigrationCode]
  private let reach: LintReach
  private var change: SchemaChange
  private var owners: LintOwners
  /// The names that refused steps would have created. Their absence is not reported again.
  private var absent: Set<SchemaName> = []

  init(_ files: LintFiles, _ base: LintBase, codes: [MigrationCode]) {
    self.base = base
    self.codes = codes
    reach = LintReach(migrations: files.migrations)
    change = SchemaChange(schema: base.schema)
    owners = LintOwners(base.history, files.migrations)
  }

  mutating func run(_ pending: [Migration]) {
    if let running = base.running, running.isDown { return }
    // A migration that was applied under another number has already been reported.
    let applied = Set(base.history.map(\.checksum))
    for migration in pending where !applied.contains(migration.checksum) { run(migration) }
  }

  private mutating func run(_ migration: Migration) {
    let owner = LintOwners.Owner(
      line: migration.line, version: migration.version, migration: migration.name, isApplied: false)
    let running = base.running.flatMap { $0.isOf(migration) ? $0 : nil }
    let done = min(running?.doneChecksums.count ?? 0, migration.steps.count)
    let before = change.schema
    let findingsBefore = findings.count
    var untouched = LintUntouched()
    var undeclared: Set<String> = []
    for (index, step) in migration.steps.enumerated().dropFirst(done) {
      let place = LintPlace(migration: migration, step: index + 1)
      let old = change.schema
      let isApplied = apply(step, at: place)
      if migration.isOfSystem || !isApplied {
        if isApplied { owners.note(step, by: owner) }
        continue
      }
      checkLines(step, at: place, reported: &undeclared)
      owners.note(step, by: owner)
      let effect = LintEffect(step: step, old: old, new: change.schema, untouched: untouched)
      findings += effect.findings(at: place, codes)
      untouched.note(step)
    }
    if migration.isOfSystem { return }
    checkSummary(of: migration)
    checkSteps(of: migration)
    let isSound = !findings[findingsBefore...].contains { $0.rule.isOfFit }
    if done == 0, isSound {
      findings += LintDown(migration: migration, before: before, after: change.schema).findings
    }
  }

  private mutating func checkSummary(of migration: Migration) {
    guard migration.summary.allSatisfy(\.isWhitespace) else { return }
    findings.append(
      LintFinding(
        .emptySummary, .warning, of: migration, "its summary is empty",
        advice: "describe its purpose in one line: plan and status show it"))
  }

  private mutating func checkSteps(of migration: Migration) {
    guard migration.steps.isEmpty else { return }
    findings.append(
      LintFinding(
        .noSteps, of: migration, "it has no steps yet",
        advice: "fill it in, or move the file away"))
  }

  // MARK: Checks of the step

  /// Applies a step to the schema and adds the findings about it.
  ///
  /// - Returns: True if the schema is as after the step.
  private mutating func apply(_ step: MigrationStep, at place: LintPlace) -> Bool {
    let taken = step.makes.filter { $0.exists(in: change.schema) }
    do throws(StoreError) {
      try change.apply(step)
      absent.subtract(step.makes)
      return true
    } catch {
      let made = step.makes.filter { !$0.exists(in: change.schema) }
      if step.needs.contains(where: absent.contains) {
        absent.formUnion(made)
        return false
      }
      absent.formUnion(made)
      if let collision = collision(step, taken, at: place) {
        findings.append(collision)
      } else if breaksTemplate(step) {
        findings.append(
          place.finding(
            .brokenTemplate, .error, error.finding,
            advice: error.advice ?? "drop the template first (dropTemplate)"))
      } else {
        findings.append(
          place.finding(
            .misfit, .error, "\(step): \(error.finding)",
            advice: error.advice ?? "correct the step, or put it where it fits"))
      }
      return false
    }
  }

  /// Returns true if the step would fit without the templates.
  private func breaksTemplate(_ step: MigrationStep) -> Bool {
    if case .dropTemplate = step { return false }
    var without = change
    without.schema.templates = []
    do throws(StoreError) {
      try without.apply(step)
      return !change.schema.templates.isEmpty
    } catch {
      return false
    }
  }

  private func collision(
    _ step: MigrationStep, _ taken: [SchemaName], at place: LintPlace
  ) -> LintFinding? {
    for name in taken {
      guard let owner = owners[name], owner.line != place.migration.line else { continue }
      return LintCollision(name: name, owner: owner, place: place, reach: reach).finding
    }
    return nil
  }

  // MARK: Owner of the entity

  private mutating func checkLines(
    _ step: MigrationStep, at place: LintPlace, reported: inout Set<String>
  ) {
    let migration = place.migration
    for name in step.needs {
      if name.kind == .entity, name.text.hasPrefix("_"), reported.insert(name.text).inserted {
        findings.append(
          place.finding(
            .systemEntity, .warning, "\(name.text) is an entity of the system",
            advice: "a later program may change or drop it; keep your data in an entity of "
              + "your own"))
      }
      guard let owner = owners[name], owner.line != migration.line, !name.text.hasPrefix("_"),
        !reach.has(owner.line, owner.version, from: migration),
        reported.insert(owner.line).inserted
      else { continue }
      findings.append(
        place.finding(
          .undeclaredRequirement, .warning,
          "it uses \(name.text), which \(owner.line) \(owner.migration) creates, "
            + "without requiring it",
          advice: "add requires: [\(owner.line)@\(owner.version)], so that it never comes before"))
    }
  }
}

extension LintFinding.Rule {
  /// True for the rules about a step that cannot be applied.
  fileprivate var isOfFit: Bool {
    [.misfit, .brokenTemplate, .collision].contains(self)
  }
}

/// The place of a step in a migration.
struct LintPlace {
  let migration: Migration
  /// The number of the step, from 1.
  let step: Int

  func finding(
    _ rule: LintFinding.Rule, _ severity: LintFinding.Severity, _ text: String, advice: String
  ) -> LintFinding {
    LintFinding(rule, severity, of: migration, step: step, text, advice: advice)
  }
}
