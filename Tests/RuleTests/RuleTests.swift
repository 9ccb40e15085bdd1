import Foundation
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

  /// The hub implements the commit log, a protocol of LMDB's module.
  @Test func onlyTheStoreAndItsHubImportLMDB() {
    let importing = ImportTable.rows.filter {
      !$0.imports.isDisjoint(with: ["LMDB", "CMooringLMDB"])
    }
    #expect(importing.map(\.module) == ["LMDB", "EntityStore", "StoreHub"])
  }

  /// A suite that was renamed would otherwise run in `Tools/test --quick`, unnoticed.
  @Test func eachLongSuiteIsASuite() throws {
    let list = SourceTree.root.appending(path: "Tools/long-suites")
    let listed = try String(contentsOf: list, encoding: .utf8).split(separator: "\n")
      .filter { !$0.hasPrefix("#") }.map(String.init)
    let types = SourceTree.repository.files.filter { $0.area == "Tests" }.flatMap { file in
      zip(file.tokens, file.tokens.dropFirst()).compactMap { keyword, name in
        keyword.word == "struct" || keyword.word == "class" ? name.word : nil
      }
    }
    #expect(!listed.isEmpty)
    #expect(Set(listed).subtracting(types) == [])
  }

  @Test func smallFilesThatStayExistAndAreSmall() {
    let small = SourceTree.repository.files.filter { $0.isSwift && $0.lineCount < 25 }
    #expect(Set(SmallFiles.exceptions.keys).subtracting(small.map(\.path)) == [])
  }
}
