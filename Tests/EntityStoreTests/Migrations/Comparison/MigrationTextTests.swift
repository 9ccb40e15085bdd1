import EntityModel
import Foundation
import TestSupport
import Testing

@testable import EntityStore
@testable import Migrations

@Suite struct MigrationTextTests {
  private typealias Writer = Migrations.MigrationText

  private static let rounds =
    ProcessInfo.processInfo.environment["MOORING_THOROUGH"] == "1" ? 1_000 : 30

  @Test("What is written reads back to equal steps", arguments: 1...4)
  func randomSteps(seed: UInt64) throws {
    var random = RandomWrittenSteps(seed: seed)
    for round in 0..<Self.rounds {
      for verb in MigrationVerb.allCases {
        let step = try random.step(verb)
        let text = Writer.yaml(of: [step], line: "local", summary: "s: #\"")
        let replay: Comment = "seed \(seed), round \(round): \(text)"
        let file: Migration
        do {
          file = try MigrationText.file(text)
        } catch {
          Issue.record("\(error) \(replay)")
          throw error
        }
        try #require(file.steps == [step], replay)
        #expect(file.summary == "s: #\"", replay)
        try #require(
          Writer.yaml(of: file.steps, line: "local", summary: file.summary) == text, replay)
      }
    }
  }

  @Test func aFileLooksAsIfAPersonHadWrittenIt() throws {
    let text = """
      line: local
      summary: Notes on episodes
      requires: [homefeed@1, other@12]
      older: write
      steps:
        - addAttribute: { to: Episode, name: note, type: string, optional: true, owner: local }
        - createEntity:
            name: Bookmark
            attributes:
              - { name: slug, type: string, maxLength: 120, pattern: "[a-z0-9-]+" }
              - { name: state, type: enum, values: { new: 1, old: 2 }, default: 1 }
              - { name: tags, type: strings, default: [] }
        - createEntity: { name: Person, attributes: [{ name: name, type: string }], history: false }
        - createIndex: { on: Bookmark, name: bySlug, keys: [slug localized(zh) desc], unique: true }
        - createIndex: { on: Bookmark, name: byTags, keys: [tags], sparse: true }
        - createRelationship:
            on: Episode
            name: path
            to: LearningPath
            key: { feedID: feedID, pathID: id }
            inverse: { name: episodes, orderBy: position, deleteRule: noAction }
        - deleteRows: { on: Episode, where: note == "", destructive: true }
        - updateRows: { on: Episode, where: "ANY tags IN {\\"a\\", \\"b\\"}", set: { note: "5" } }
      down:
        - dropEntity: { name: Bookmark, destructive: true }

      """
    let file = try MigrationText.file(text)
    let written = Writer.yaml(
      of: file.steps, down: file.down, line: file.line, summary: file.summary,
      requires: file.requires, older: file.older)
    #expect(written == text)
  }

  @Test func aFileWithoutStepsIsRead() throws {
    let text = Writer.yaml(of: [], line: "local", summary: "")
    #expect(text == "line: local\nsummary: \"\"\nsteps: []\n")
    #expect(try MigrationText.file(text).steps.isEmpty)
  }

  /// The steps that create a schema quote texts, but no decimals, and names only where necessary.
  @Test func theListOfASchemaCreatesTheSameSchema() throws {
    let schema = try MigrationText.schema(
      """
      - createEntity:
          name: "null"
          history: false
          attributes:
            - { name: word, type: string, default: "1", keepHistory: true, maxLength: 9 }
            - { name: price, type: decimal, default: 1.50 }
            - { name: state, type: enum, values: [old, "true"], default: old }
      - createIndex: { on: "null", name: byWord, keys: [word localized, price desc], sparse: true }
      - createRelationship: { on: "null", name: next, to: "null", many: false }
      """)
    let text = Writer.list(
      creating: schema.entities, among: schema.entities, templates: [], retention: nil)
    #expect(
      text == """
        - createEntity:
            name: "null"
            history: false
            attributes:
              - { name: word, type: string, default: "1", keepHistory: true, maxLength: 9 }
              - { name: price, type: decimal, default: 1.5 }
              - { name: state, type: enum, values: ["old", "true"], default: "old" }
        - createIndex: { on: "null", name: byWord, keys: [word localized, price desc], sparse: true }
        - createRelationship: { on: "null", name: next, to: "null", many: false }

        """)
    #expect(try MigrationText.schema(text) == schema)
    let library = try MigrationText.library()
    let copy = try MigrationText.schema(
      Writer.list(
        creating: library.entities.filter { !$0.isSystem }, among: library.entities,
        templates: library.templates, retention: nil))
    #expect(SchemaComparison(from: library, to: copy).differences == [])
  }
}
