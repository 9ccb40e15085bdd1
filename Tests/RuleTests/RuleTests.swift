import Testing

/// The rules of the repository: see the page Architecture for the reasons.
@Suite struct RuleTests {
  private static let found = Dictionary(
    uniqueKeysWithValues: Rule.allCases.map { ($0, $0.violations(in: .repository)) })

  @Test(arguments: Rule.allCases)
  func modulesKeep(_ rule: Rule) {
    for (module, violations) in Self.found[rule]?.sorted(by: { $0.key < $1.key }) ?? [] {
      Issue.record("\(rule): \(module)\n  \(violations.joined(separator: "\n  "))")
    }
  }

  @Test func importsGoDownward() {
    var below: Set<String> = []
    for row in ImportTable.rows {
      for name in row.imports where !name.hasPrefix("CMooring") {
        #expect(below.contains(name), "\(row.module) may not import \(name), which is not below it")
      }
      below.insert(row.module)
    }
    #expect(below.count == ImportTable.rows.count)
  }

  @Test func onlyTheStoreImportsLMDB() {
    let importing = ImportTable.rows.filter {
      !$0.imports.isDisjoint(with: ["LMDB", "CMooringLMDB"])
    }
    #expect(importing.map(\.module) == ["LMDB", "EntityStore"])
  }

  @Test func smallFilesThatStayExistAndAreSmall() {
    let small = SourceTree.repository.files.filter { $0.isSwift && $0.lineCount < 25 }
    #expect(Set(SmallFiles.exceptions.keys).subtracting(small.map(\.path)) == [])
  }
}
