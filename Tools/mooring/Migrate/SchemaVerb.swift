import ArgumentParser
import Console
import EntityModel
import EntityStore
import Foundation
import Migrations

/// The verb `schema`: what the schema is, and how it differs from another one.
struct SchemaVerb: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "schema",
    abstract: "Prints the schema of this store, or its differences from another one.",
    subcommands: [SchemaShow.self, SchemaDiff.self], defaultSubcommand: SchemaShow.self)
}

struct SchemaShow: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show", abstract: "Prints the schema that the store's catalog records.",
    discussion: """
      mooring schema Episode
      mooring schema Episode --as swift
      """)

  @OptionGroup var command: SchemaCommand

  func run() async throws { try await command.run() }
}

struct SchemaDiff: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "diff",
    abstract: "Prints the changes that would give this store the schema of another one.",
    discussion: """
      mooring schema diff /backups/monday
      mooring schema diff migrations --write changes --line local

      The other one is a store's folder, or a folder of migration files: the schema is then that \
      of a new store with these migrations and the built-in lines. --write writes the difference \
      as a migration. Review it before it is applied: a rename looks like a drop and an addition.
      """)

  @OptionGroup var options: StoreOptions
  @Argument(help: "A store's folder, or a folder of migration files.", completion: .directory)
  var other: String
  @Option(
    help: ArgumentHelp(
      "Write the migration that closes the difference into this folder.", valueName: "dir"))
  var write: String?
  @Option(help: "The line of that migration, such as local.") var line: String?
  @Flag(help: "End with 78 if there is a difference.") var check = false
  @Option(help: "table or json.", completion: .tableOrJSON) var format = OutputFormat.table

  func validate() throws {
    try format.require(.table, .json)
    guard (write == nil) == (line == nil) else {
      throw ValidationError("--write DIR and --line NAME go together")
    }
    if let line { try MigrationDraft.validate(line: line) }
  }

  func run() async throws {
    let comparison = SchemaComparison(
      from: try options.openToRead().completeSchema(), to: try otherSchema())
    try format.write(comparison.differences) { output in
      for text in comparison.differences { try output.write(text.singleLine + "\n") }
    }
    if comparison.differences.isEmpty {
      if !options.quiet { Message.say("the schemas are the same") }
      return
    }
    if let write, let line { try save(comparison, to: write, line) }
    if check { throw ExitStatus.configuration.exitCode }
  }

  private func otherSchema() throws -> Schema {
    if FileManager.default.fileExists(atPath: other + "/data.mdb") {
      var opening = try options.storeOptions()
      opening.isReadOnly = true
      return try Store.open(at: other, options: opening).completeSchema()
    }
    let own = try MigrationLine.load([.directory(other)])
    guard !own.isEmpty else {
      throw CommandError(.unavailable, "\(other) holds neither a store nor migration files")
    }
    return try Schema(of: try options.linesBeside(own) + own)
  }

  private func save(_ comparison: SchemaComparison, to folder: String, _ line: String) throws {
    let draft = try MigrationDraft(line: line, slug: "difference", in: folder, options)
    let summary = "What \(URL(fileURLWithPath: other).lastPathComponent) has"
    let text = MigrationText.yaml(
      of: comparison.steps, line: line, summary: summary, requires: draft.requirements)
    let path = try draft.write(text, to: folder)
    if !options.quiet {
      Message.say("wrote \(path); read it, then check it with `mooring migrate lint`")
    }
  }
}
