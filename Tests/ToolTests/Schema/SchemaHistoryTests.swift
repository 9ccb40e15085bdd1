import EntityStore
import Foundation
import Migrations
import TestSupport
import Testing

/// The output of `mooring schema` about the history, and the YAML that restores it.
@Suite struct SchemaHistoryTests {
  private static let file = """
    line: walks
    summary: Histories of all kinds
    steps:
      - createEntity:
          name: Dog
          attributes:
            - { name: name, type: string, keepHistory: true }
            - { name: age, type: int64, default: 0 }
      - createEntity:
          name: Walk
          attributes: [ { name: place, type: string, optional: true, keepHistory: true } ]
      - createEntity:
          name: Silent
          history: false
          attributes: [ { name: word, type: string } ]
      - createRelationship: { on: Walk, name: dog, to: Dog, inverse: { name: walks, many: true } }
      - setHistory: { on: Walk, values: [place, dog] }
      - retainHistory: { days: 1, megabytes: 2, consumerDays: 3, consumerMegabytes: 1024 }

    """

  private func schema(_ store: Store, _ arguments: String...) throws -> String {
    let run = try run("mooring", ["schema"] + arguments, store: store.folder)
    #expect(run.status == 0 && run.errors.isEmpty, "\(run.errors)")
    return run.output
  }

  private static func source(_ file: String) -> MigrationSource {
    MigrationSource(embedded: [("0001_walks", Array(file.utf8))])
  }

  @Test func theHistoryInYAMLRecreatesTheSchema() async throws {
    try await withTemporaryStore(migrations: [Self.source(Self.file)]) { temporary in
      let yaml = try schema(temporary.store, "--as", "yaml")
      #expect(
        yaml.hasSuffix(
          """
          - createEntity:
              name: Silent
              history: false
              attributes:
                - { name: word, type: string }
          - createRelationship: { on: Walk, name: dog, to: Dog, many: false, inverse: { name: walks, many: true } }
          - setHistory: { on: Walk, values: [place, dog] }
          - retainHistory: { days: 1, megabytes: 2, consumerDays: 3, consumerMegabytes: 1024 }

          """), "\(yaml)")
      let copy =
        "line: walks\nsummary: A copy\nsteps:\n"
        + yaml.split(separator: "\n").map { "  \($0)\n" }.joined()
      let made = try openStore(
        at: temporary.folder.path("copy"), migrations: [Self.source(copy)])
      #expect(try made.schema == temporary.store.schema)
    }
  }

  @Test func theTableMentionsSettingsThatDifferFromTheDefault() async throws {
    try await withTemporaryStore(migrations: [Self.source(Self.file)]) { temporary in
      let table = try schema(temporary.store)
      #expect(
        table == """
          Dog
            attribute  type    owner  default  rules
            name       string  feed            in history
            age        int64   feed   0
            relationship  to    kind     on delete  inverse
            walks         Walk  to-many  nullify    dog

          Walk
            attribute  type        owner  default  rules
            place      string?     feed            in history
            dog        reference?  local           in history
            relationship  to   kind     on delete  inverse
            dog           Dog  to-one?  nullify    walks
            index  keys  kind
            _dog   dog   sparse

          Silent, without history
            attribute  type    owner  default  rules
            word       string  feed

          history is kept for 1 day and 2 MiB, for consumers 3 days and 1,024 MiB

          """)
      // It is the whole store's.
      #expect(!(try schema(temporary.store, "Dog").contains("history is kept")))
      #expect(!(try schema(temporary.store, "Dog", "--as", "yaml").contains("retainHistory")))
      let json = try schema(temporary.store, "--as", "json")
      #expect(
        json.contains(
          #""historyRetention":{"age":86400,"bytes":2097152,"consumerAge":259200,"consumerBytes":1073741824}"#
        ))
    }
  }

  @Test func defaultsAreOmitted() throws {
    try withSampleStore { store in
      let table = try mooring("schema", store: store).output
      #expect(!table.contains("history"))
      #expect(!(try mooring("schema", "--as", "yaml", store: store).output.contains("istory")))
      let system = try mooring("schema", "--system", store: store).output
      #expect(!system.contains("without history"))
    }
  }
}
