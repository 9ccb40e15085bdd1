public import ArgumentParser
import EntityStore

/// The verb `schema` of both commands.
public struct SchemaCommand: AsyncParsableCommand {
  public static let configuration = CommandConfiguration(
    commandName: "schema", abstract: "The schema as the store's own catalog records it.")

  @OptionGroup var options: StoreOptions
  @Option(name: .customLong("as"), help: "table, yaml (as a migration writes it) or json.")
  var form = SchemaOutput.Form.table
  @Flag(help: "Show the system entities, too.") var system = false

  public init() {}

  public func run() async throws {
    try SchemaOutput(try options.openToRead().schema, includesSystem: system).write(form)
  }
}
