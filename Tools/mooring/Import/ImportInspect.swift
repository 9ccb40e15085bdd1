public import ArgumentParser
import Console
import EntityModel
import EntityStore
public import LegacyImport
import Migrations

extension ImportInheritance: ExpressibleByArgument {}

extension ImportCommand {
  struct Inspect: AsyncParsableCommand {
    enum View: String, CaseIterable, ExpressibleByArgument {
      case summary, mapping, migration
    }

    static let configuration = CommandConfiguration(
      commandName: "inspect",
      abstract: "Inspects a file and proposes a mapping and a migration.",
      discussion: """
        mooring import inspect Library.sqlite
        mooring import inspect Library.sqlite --mapping library.yaml --migration migrations

        Needs no store; without one, names are compared with the migrations alone. Without \
        --mapping and --migration nothing is written; --as mapping and --as migration print \
        them. The mapping states the evidence of each guess. Uncertain ones \
        are marked `unconfirmed`; a run refuses the mapping until `mooring import confirm` has \
        confirmed or corrected them.

        An entity gets the name of the import before its own if another line of migrations, \
        another import in the folder of --migration, or the store has an entity of its name.
        """)

    @OptionGroup var options: StoreOptions
    @OptionGroup var file: LegacyFileArgument
    @OptionGroup var proposed: ProposalOptions
    @Option(help: "What the store is to remember it by. Default: the file's name.")
    var name: String?
    @Option(
      help: ArgumentHelp(
        "What becomes of Core Data's entities that inherit: separate, one entity for each, or "
          + "merged, "
          + "one for a family. Default: as the file suggests.", valueName: "separate|merged"))
    var inheritance: ImportInheritance?
    @Option(
      help: ArgumentHelp(
        "The model of the program that wrote a Core Data store, for stores without one.",
        valueName: "file.xcdatamodel"))
    var model: String?
    @Option(
      help: ArgumentHelp(
        "Update this mapping of an earlier version of the file, whose edits stay. The migration "
          + "adds what is new.", valueName: "old.yaml"))
    var update: String?
    @Option(name: .customLong("as"), help: "summary, mapping or migration.")
    var view = View.summary
    @Option(help: "table or json.", completion: .tableOrJSON) var format = OutputFormat.table

    func validate() throws {
      try format.require(.table, .json)
      if view != .summary, format == .json {
        throw ValidationError("--format json has the mapping and the migration; leave out --as")
      }
      if update != nil, name != nil || inheritance != nil {
        throw ValidationError("--update keeps the name and the entities; leave out the others")
      }
      if let name { try MigrationDraft.validate(line: name) }
    }

    func run() async throws {
      // Before the work, which may take long.
      try proposed.requireFree()
      let progress = LongCommand(isQuiet: options.quiet, isJSON: format == .json)
      let afterInterrupt = "nothing was written"
      let taken = try TakenNames(options, folder: proposed.migration)
      let (name, inheritance, model) = (name, inheritance, model)
      let old = try update.map { path in
        (
          text: try MappingOptions.read(path),
          schema: try options.schema(withMigrationsIn: proposed.migration)
        )
      }
      let proposal = try await progress.read(file, afterInterrupt: afterInterrupt) { file in
        if let old {
          let own = try old.text.name(old.schema)
          return try file.update(
            old.text, schema: old.schema, model: model, besides: taken.names(besides: own))
        }
        let name = try file.importName(name)
        return try file.inspect(
          name: name, inheritance: inheritance, model: model, besides: taken.names(besides: name))
      }
      let written = try proposed.write(
        ProposedFiles(
          name: proposal.name, mapping: proposal.mapping,
          migration: proposal.hasMigration ? proposal.migration : nil,
          migrationFile: update == nil ? nil : try nextFile(of: proposal.name)))
      let text = ProposalText(
        proposal: proposal, file: file, mapping: proposed.mapping, migrations: proposed.migration,
        written: written, storeNote: taken.note, options: options)
      try StandardOutput.with { output in
        switch (view, format) {
        case (.mapping, _): try output.write(proposal.mapping)
        case (.migration, _): try output.write(proposal.migration)
        case (.summary, .json): try output.write(try JSONText.of(text.document) + "\n")
        case (.summary, _): try text.write(&output)
        }
      }
      if view != .summary, !options.quiet { for line in text.cautions { Message.say(line) } }
    }

    /// Returns the name of the next migration file of the line.
    private func nextFile(of line: String) throws -> String? {
      guard let folder = proposed.migration else { return nil }
      let slug = line.map { $0 == "-" || $0 == "." ? "_" : $0 } + "_update"
      return try MigrationDraft(line: line, slug: String(slug), in: folder, options).fileName
    }
  }
}
