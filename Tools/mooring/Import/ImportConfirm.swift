import ArgumentParser
import Console
import EntityModel
import EntityStore
import Foundation
import LegacyImport
import Migrations

extension ImportCommand {
  struct Confirm: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "confirm",
      abstract: "Confirms or corrects guesses of `inspect`, in the mapping and the migration.",
      discussion: """
        mooring import confirm --mapping library.yaml
        mooring import confirm --mapping library.yaml Post.user --rest

        Without a choice it lists the guesses that are marked `unconfirmed`. `Post.user` confirms \
        one as it is, and `Task.updated=int64` chooses another reading: a type or a form of dates \
        for an attribute; a table, `none`, `drop` or `reject` for a relationship.

        Only what belongs to a choice is changed in the two files. If the migration was already \
        applied to the store, the next file of its line is written instead.
        """)

    @OptionGroup var options: StoreOptions
    @OptionGroup var mapping: MappingOptions
    @Argument(
      help: ArgumentHelp(
        "The guesses to confirm or correct.", valueName: "entity.property=reading"))
    var choices: [String] = []
    @Flag(help: "Confirm all other guesses as they are.") var rest = false

    func validate() throws { _ = try parsedChoices() }

    func run() async throws {
      guard !options.migrationFolders.isEmpty else {
        throw CommandError(.usage, "name the folder of the migration: --migrations DIR")
      }
      let schema = try Schema(of: try options.migrationLines())
      let confirmed = try ConfirmedMapping(
        of: try mapping.text(), file: mapping.path, schema: schema, try parsedChoices(),
        includesOthers: rest)
      if confirmed.names.isEmpty { return try list(confirmed.remaining) }
      let migration = try ConfirmedMigration(confirmed.changes, of: schema, options)
      // Both files are known to fit each other before one is written.
      try confirmed.check(against: migration.schema, file: mapping.path)
      try migration.write()
      do {
        try CommandFile.replace(mapping.path, with: confirmed.mapping)
      } catch {
        try migration.undo()
        throw error
      }
      try report(confirmed, migration)
    }

    private func parsedChoices() throws -> [MarkChoice] {
      try choices.map { text in
        guard let choice = MarkChoice(text) else {
          throw ValidationError(
            "\"\(text)\" is no choice; write Entity.property, or Entity.property=reading")
        }
        return choice
      }
    }

    // MARK: Output

    private func list(_ marks: [String]) throws {
      try StandardOutput.with { output in
        if marks.isEmpty { try output.write("the mapping has no guesses to confirm\n") }
        for mark in marks { try output.write(mark.singleLine + "\n") }
      }
    }

    private func report(_ confirmed: ConfirmedMapping, _ migration: ConfirmedMigration) throws {
      var lines = confirmed.changes.map(\.description)
      lines.append("wrote " + ([mapping.path] + migration.paths).joined(separator: " and "))
      lines += confirmed.remaining.map { "to be confirmed: " + $0 }
      if migration.isAdditional {
        let flag = migration.isDestructive ? ["--allow-destructive"] : []
        lines.append(
          "the migration was applied already; for the changes, type "
            + "`\(options.commandLine(["migrate", "up"] + flag))`")
      }
      try StandardOutput.with { output in
        for line in lines { try output.write(line.singleLine + "\n") }
      }
    }
  }
}

enum CommandFile {
  /// Replaces the file as a whole.
  ///
  /// - Throws: `CommandError` if it cannot be written.
  static func replace(_ path: String, with text: String) throws {
    do {
      try Data(text.utf8).write(to: URL(fileURLWithPath: path), options: .atomic)
    } catch {
      throw CommandError(.cannotCreate, "\(path) cannot be written")
    }
  }
}
