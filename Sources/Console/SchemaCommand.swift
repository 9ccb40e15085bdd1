public import ArgumentParser
import EntityStore

/// The verb `schema` of both commands.
public struct SchemaCommand: AsyncParsableCommand {
  public static let configuration = CommandConfiguration(
    commandName: "schema", abstract: "Prints the schema that the store's catalog records.",
    discussion: """
      mooring-dump schema Episode
      mooring-dump schema Episode --as yaml
      """)

  @OptionGroup var options: StoreOptions
  @Argument(help: "Which entities; all without any.", completion: .entity)
  var entities: [String] = []
  @Option(
    name: .customLong("as"),
    help: "table, yaml (as a migration writes it), json, or swift (types for the library).")
  var form = SchemaOutput.Form.table
  @Flag(help: "Show the system entities, too.") var system = false

  public init() {}

  public func run() async throws {
    let schema = try options.openToRead().read { transaction in
      for entity in entities { _ = try transaction.description(of: entity) }
      return transaction.catalog.deferred.restored(in: transaction.schema)
    }
    try SchemaOutput(schema, entities: entities, includesSystem: system).write(form)
  }
}
