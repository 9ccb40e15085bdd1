import EntityStore

/// Compares the files with the migrations that were applied to a store. An applied file must not be
/// edited, and no file may be inserted before it.
struct LintHistory {
  let state: MigrationState
  let base: LintBase
  let files: LintFiles

  var findings: [LintFinding] { changed + displaced + newer + running }

  private var changed: [LintFinding] {
    state.changed.map {
      LintFinding(
        .changedFile, of: $0, "the file was changed after it was applied",
        advice: "put it back as it was, and write the change as a new migration")
    }
  }

  /// Findings for the inserted files. The files after them, whose numbers have moved, are not
  /// reported.
  private var displaced: [LintFinding] {
    let applied = Set(base.history.map(\.checksum))
    let new = state.displaced.filter { !applied.contains($0.file.checksum) }
    return (new.isEmpty ? state.displaced : new).map { entry, file in
      LintFinding(
        .displacedFile, of: file, "it has the number of \(entry.name), which has been applied",
        advice: "give it the number after the last one of its line, and \(entry.name) its own back")
    }
  }

  /// Findings for the first applied migration of each line that has no file here.
  private var newer: [LintFinding] {
    var lines: Set<String> = []
    return state.unknown.filter { lines.insert($0.line).inserted }.map { entry in
      let by = entry.program.map { " by \($0)" } ?? ""
      return LintFinding(
        rule: .newerStore, severity: .error, line: entry.line, migration: entry.name, step: nil,
        text: "it was applied to the store\(by), and its file is missing",
        advice: "use the files that have \(entry.line)@\(entry.version)")
    }
  }

  private var running: [LintFinding] {
    guard let running = base.running else { return [] }
    func finding(
      _ rule: LintFinding.Rule, step: Int? = nil, _ text: String, advice: String
    ) -> LintFinding {
      LintFinding(
        rule: rule, severity: .error, line: running.line, migration: running.name, step: step,
        text: text, advice: advice)
    }
    guard let file = files.migrations.first(where: { running.isOf($0) }) else {
      return [
        finding(
          .missingFile, "it is in progress, and its file is missing",
          advice: "name its folder with --migrations")
      ]
    }
    var found: [LintFinding] = []
    if running.isDown {
      found.append(
        finding(
          .beingTakenBack, "it is being undone",
          advice: "finish that first: mooring migrate down \(running.line)"))
    }
    let now = running.isDown ? file.downChecksums : file.stepChecksums
    let done = running.doneChecksums
    if let step = done.indices.first(where: { $0 >= now.count || now[$0] != done[$0] }) {
      found.append(
        finding(
          .changedStep, step: step + 1,
          "it is in progress, and a completed step has been changed",
          advice:
            "put the first \(done.count) steps back as they were; those after may be corrected"
        ))
    }
    return found
  }
}
