import ArgumentParser
import Console
import EntityStore

struct SchemaCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "schema", abstract: "The schema of this store.")

  @OptionGroup var options: StoreOptions
  @Option(name: .customLong("as"), help: "table, yaml (as a migration writes it) or json.")
  var form = SchemaOutput.Form.table
  @Flag(help: "Show the system entities, too.") var system = false

  func run() async throws {
    try SchemaOutput(try options.openToRead().schema, includesSystem: system).write(form)
  }
}
