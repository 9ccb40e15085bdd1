import EntityStore

/// Finds migrations that can never be applied, because a requirement is missing or circular.
struct LintRequirements {
  /// A requirement names the place of a migration: its line and its number.
  private typealias Place = Migration.Requirement

  /// The migrations that cannot be applied, because of their own requirements or those of a
  /// required migration.
  private let unmet: [Migration]
  /// The places of migrations that are applied or known as a file.
  private let known: Set<Place>

  init(_ unmet: [Migration], _ migrations: [Migration], _ history: [AppliedMigration]) {
    self.unmet = unmet
    known = Set(
      migrations.map(\.place) + history.map { Place(line: $0.line, version: $0.version) })
  }

  var findings: [LintFinding] { missing + circles }

  private var missing: [LintFinding] {
    unmet.flatMap { migration in
      migration.requires.filter { !known.contains($0) }.map { requirement in
        let name = "\(requirement.line)@\(requirement.version)"
        let last = known.filter { $0.line == requirement.line }.map(\.version).max()
        let what = last.map { "the line ends at \(requirement.line)@\($0)" }
        return LintFinding(
          .missingRequirement, of: migration, "it requires \(name), which is missing",
          advice: what.map { "\($0): correct the number, or use the files that have it" }
            ?? "name the folder of that line with --migrations")
      }
    }
  }

  /// Findings for circular requirements: one for each circle, at the first of its files.
  private var circles: [LintFinding] {
    var needs: [Place: [Place]] = [:]
    for migration in unmet {
      let before = Place(line: migration.line, version: migration.version - 1)
      needs[migration.place] = migration.requires + [before]
    }
    var reported: Set<Place> = []
    return unmet.compactMap { migration in
      let start = migration.place
      guard !reported.contains(start), let circle = Self.circle(from: start, needs) else {
        return nil
      }
      reported.formUnion(circle)
      let text = (circle + [start]).map { "\($0.line)@\($0.version)" }.joined(separator: ", ")
      return LintFinding(
        .circularRequirement, of: migration, "each requires the next: \(text)",
        advice: "remove one requirement, or move what needs it into a later file")
    }
  }

  /// Returns the shortest path of requirements from a file back to itself.
  private static func circle(from start: Place, _ needs: [Place: [Place]]) -> [Place]? {
    var ways = [[start]]
    var seen: Set<Place> = []
    var next = 0
    while next < ways.count {
      let way = ways[next]
      next += 1
      for need in way.last.flatMap({ needs[$0] }) ?? [] {
        if need == start { return way }
        if needs[need] != nil, seen.insert(need).inserted { ways.append(way + [need]) }
      }
    }
    return nil
  }
}

extension Migration {
  fileprivate var place: Requirement { Requirement(line: line, version: version) }
}
