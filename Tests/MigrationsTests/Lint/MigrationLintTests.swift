import EntityModel
import Foundation
import TestSupport
import Testing

@testable import EntityObjects
@testable import EntityStore
@testable import Migrations

@Suite struct MigrationLintTests {
  @Test("Each rule finds its example", arguments: LintCases.all)
  func example(_ example: LintCase) throws {
    let findings = try example.findings()
    #expect(findings.map(\.place) == example.expected, "\(findings)")
    if let first = findings.first, let says = example.says {
      #expect((first.text + "; " + first.advice).contains(says), "\(first)")
    }
    for finding in findings {
      #expect(!finding.text.isEmpty && !finding.advice.isEmpty)
      #expect(!finding.description.contains("\n"), "\(finding)")
    }
  }

  @Test func everyRuleHasAnExample() throws {
    // Those of a migration that is under way have tests of their own.
    let ofRunning: Set<LintFinding.Rule> = [.missingFile, .changedStep, .beingTakenBack]
    let found = Set(LintCases.all.flatMap(\.expected).map { $0.split(separator: " ")[1] })
    for rule in LintFinding.Rule.allCases where !ofRunning.contains(rule) {
      #expect(found.contains(Substring(rule.rawValue)), "\(rule)")
    }
  }

  // MARK: A migration that is under way

  private static let steps = (1...3).map { "createEntity: { name: E\($0), attributes: [] }" }

  private static func running(_ steps: [String], done: Int, isDown: Bool = false) throws -> LintBase
  {
    let drop = ["dropEntity: { name: E3, destructive: true }"]
    let file = try LintCase.File.file("a", "0001_x", steps, down: drop).migration()
    var base = LintBase()
    var change = SchemaChange(schema: Schema())
    for step in file.steps.prefix(done) { try change.apply(step) }
    base.schema = change.schema
    var running = MigrationPosition(file, isDown: isDown).running(since: 0, program: nil)
    running.doneChecksums = Array((isDown ? file.downChecksums : file.stepChecksums).prefix(done))
    base.running = running
    return base
  }

  @Test func remainingStepsMayBeCorrectedAndAppliedOnesMayNot() throws {
    let base = try Self.running(Self.steps, done: 2)
    func places(_ steps: [String], name: String = "0001_x", line: String = "a") -> [String] {
      LintCase("", [.file(line, name, steps)], []).findings(against: base).map(\.place)
    }
    #expect(places(Self.steps) == [])
    #expect(places(Array(Self.steps.prefix(2))) == [])
    var corrected = Self.steps
    corrected[2] = "dropEntity: { name: E9, destructive: true }"
    #expect(places(corrected) == ["error misfit a 0001_x 3"])
    var changed = Self.steps
    changed[1] = "createEntity: { name: E2, attributes: [], history: false }"
    #expect(places(changed) == ["error changedStep a 0001_x 2"])
    #expect(places(Array(Self.steps.prefix(1))) == ["error changedStep a 0001_x 2"])
    #expect(places(Self.steps, line: "b").contains("error missingFile a 0001_x"))
  }

  @Test func aRollbackUnderWayIsFinishedFirst() throws {
    let base = try Self.running(Self.steps, done: 0, isDown: true)
    let file = LintCase.File.file(
      "a", "0001_x", Self.steps, down: ["dropEntity: { name: E3, destructive: true }"])
    #expect(
      LintCase("", [file], []).findings(against: base).map(\.place)
        == ["error beingTakenBack a 0001_x"])
  }

  // MARK: Stores and folders

  @Test func aStoreIsComparedWithFilesThatItWasNotOpenedWith() throws {
    try withTemporaryFolder { folder in
      let book = LintCase.File.file("a", "0001_x", ["createEntity: { name: Book, attributes: [] }"])
      let store = try openStore(at: folder.path("s"), migrations: [[book].source])
      #expect(try MigrationLint.findings(in: [[book].source], against: store, codes: []) == [])
      let again = LintCase.File.file(
        "b", "0001_y", ["createEntity: { name: Book, attributes: [] }"])
      let findings = try MigrationLint.findings(
        in: [[again].source], against: store, codes: [])
      #expect(findings.map(\.place) == ["error collision b 0001_y 1"])
      let text = try JSONEncoder().encode(findings)
      #expect(try JSONDecoder().decode([LintFinding].self, from: text) == findings)
    }
  }

  @Test func aMissingFolderIsAFinding() throws {
    let findings = try MigrationLint.findings(
      in: [.directory("/nowhere")], against: nil, codes: [])
    #expect(findings.map(\.place) == ["error unreadableFile /nowhere"])
  }

  @Test func theFilesOfTheHomeFeedAreInOrder() throws {
    let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
      .appending(path: "Migrations")
    let findings = try MigrationLint.findings(
      in: [.directory(folder.path)], against: nil, codes: [])
    #expect(findings == [])
  }
}

extension LintCases {
  static var all: [LintCase] { files + history + requirements + collisions + steps + data + down }
}
