import EntityModel
import EntityStore
import Foundation
import TestSupport
import Testing

/// Compares translated `#Predicate`s with Foundation's evaluation of the same values.
@Suite struct PredicateAgreementTests {
  @Test(arguments: [UInt64(1), 2, 3])
  func theStoreMatchesWhatSwiftDoes(seed: UInt64) async throws {
    try await withTemporaryStore(seed: seed, migrations: [.probes]) { temporary in
      var random = temporary.random
      let probes = (0..<150).map { Probe(name: "n\($0)", random: &random) }
      try await temporary.store.write { transaction in
        for probe in probes { try transaction.insert(probe) }
      }
      for predicate in ProbePredicates.all {
        // Where Swift throws, for a forced unwrap of null, the record is not matched.
        let expected = probes.filter { (try? predicate.evaluate($0)) ?? false }.map(\.name)
        let tree = try FetchPredicate(predicate)
        let found = try temporary.store.fetch(FetchDescriptor<Probe>(predicate: tree))
        #expect(found.map(\.name) == expected, "\(tree), seed \(random.seed)")
      }
    }
  }
}
