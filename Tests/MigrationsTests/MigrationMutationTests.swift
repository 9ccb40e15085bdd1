import Foundation
import StrictYAML
import TestSupport
import Testing

@testable import EntityStore
@testable import Migrations

/// Mutations of valid files: each is a migration or an error with its place.
@Suite struct MigrationMutationTests {
  private static let rounds =
    ProcessInfo.processInfo.environment["MOORING_THOROUGH"] == "1" ? 10_000 : 1_000

  /// Words that mean something in a migration.
  private static let words =
    MigrationVerb.allCases.map(\.rawValue) + [
      "on", "to", "name", "type", "values", "optional", "default", "backfill", "min", "max",
      "maxLength", "pattern", "owner", "keys", "unique", "sparse", "onViolation", "set", "where",
      "count", "atLeast", "atMost", "revision", "changes", "destructive", "key", "inverse", "many",
      "true", "false", "null", "now", "0", "-1", "1e999", "9223372036854775808", "\"\"", "[]", "{}",
      "enum", "date", "strings", "E", "_E", "a", "{ expression: a + }", "{ expression: \"1\" }",
      "localized(de)", "keepNewest", "$X", "ANY a.b == 1",
    ]

  @Test("A mutated file is read or refused", arguments: 1...4)
  func mutations(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    var accepted = 0
    for round in 0..<Self.rounds {
      let text = Self.mutation(&random)
      do {
        let migration = try MigrationText.file(text)
        for step in migration.steps { #expect(!step.description.isEmpty) }
        #expect(migration.stepChecksums.count == migration.steps.count)
        accepted += 1
      } catch let error as YAMLError {
        let isInside = error.line >= 1 && error.line <= text.count { $0.isNewline } + 2
        #expect(isInside && !error.summary.isEmpty, "seed \(seed), round \(round): \(error)")
      }
    }
    #expect((Self.rounds / 50...Self.rounds * 49 / 50).contains(accepted), "\(accepted) accepted")
  }

  /// One or two of the steps that there are, with words replaced.
  private static func mutation(_ random: inout SeededRandom) -> String {
    let steps = (0..<Int.random(in: 1...2, using: &random)).map { _ in
      var step = MigrationStepFileTests.cases.randomElement(using: &random)!.text
      for _ in 0..<Int.random(in: 0...2, using: &random) { replaceWord(of: &step, &random) }
      return "  - \(step)\n"
    }
    return "line: a\nsummary: s\nsteps:\n" + steps.joined()
  }

  private static func replaceWord(of step: inout String, _ random: inout SeededRandom) {
    let places = step.ranges(of: /[A-Za-z0-9_.\-"]+/)
    guard let place = places.randomElement(using: &random) else { return }
    switch Int.random(in: 0..<6, using: &random) {
    case 0: step.removeSubrange(place)
    case 1: step.insert(contentsOf: ", ", at: place.lowerBound)
    case 2: step.replaceSubrange(place, with: step[places.randomElement(using: &random)!])
    default: step.replaceSubrange(place, with: words.randomElement(using: &random)!)
    }
  }
}
