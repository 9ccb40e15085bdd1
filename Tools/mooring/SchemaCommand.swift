import ArgumentParser
import Console
import EntityModel
import EntityStore

struct SchemaCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "schema", abstract: "The schema of this store.")

  enum Form: String, CaseIterable, ExpressibleByArgument {
    case table, yaml, json
  }

  @OptionGroup var options: StoreOptions
  @Option(name: .customLong("as"), help: "table, yaml (as a migration writes it) or json.")
  var form = Form.table
  @Flag(help: "Show the system entities, too.") var system = false

  func run() async throws {
    let schema = try options.open().schema
    try SchemaOutput(schema, includesSystem: system).write(form == .json ? .json : (form == .yaml ? .yaml : .table))
  }
}
