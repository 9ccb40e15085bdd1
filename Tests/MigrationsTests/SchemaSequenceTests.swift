import EntityModel
import Foundation
import TestSupport
import Testing

@testable import EntityStore
@testable import Migrations

@Suite struct SchemaSequenceTests {
  private static let steps =
    ProcessInfo.processInfo.environment["MOORING_THOROUGH"] == "1" ? 1_500 : 400

  @Test("Random steps produce a valid schema or an error", arguments: 1...6)
  func randomSequences(seed: UInt64) throws {
    var steps = RandomSteps(seed: seed)
    var change = SchemaChange(schema: try MigrationText.library())
    var taken: Set<MigrationVerb> = []
    var refusals = 0
    for round in 0..<Self.steps {
      let before = change.schema
      let step = steps.step(for: before)
      do {
        try change.apply(step)
        taken.insert(step.verb)
      } catch {
        refusals += 1
        #expect(change.schema == before, "seed \(seed), round \(round): \(step)")
        continue
      }
      let after = change.schema
      let replay = "seed \(seed), round \(round): \(step)"
      try #require(SchemaSequence.problems(of: after) == [], "\(replay)")
      try #require(SchemaSequence.violations(from: before, to: after) == [], "\(replay)")
    }
    // Both must be common, or nothing is shown.
    #expect((Self.steps / 10...Self.steps * 9 / 10).contains(refusals), "\(refusals) refused")
    #expect(taken.count >= 15, "seed \(seed): \(taken)")
  }
}
