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
        Needs no store. Without --mapping and --migration nothing is written; --as mapping and \
        --as migration print them. The mapping states the evidence of each guess. Uncertain ones \
        are marked `unconfirmed`; a run refuses the mapping until `mooring import confirm` has \
        confirmed or corrected them.
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
    @Option(name: .customLong("as"), help: "summary, mapping or migration.")
    var view = View.summary
    @Option(help: "table or json.") var format = OutputFormat.table

    func validate() throws {
      try format.require(.table, .json)
      if view != .summary, format == .json {
        throw ValidationError("--format json has the mapping and the migration; leave out --as")
      }
      if let name { try MigrationDraft.validate(line: name) }
    }

    func run() async throws {
      // Before the work, which may take long.
      try proposed.requireFree()
      let progress = LongCommand(isQuiet: options.quiet, isJSON: format == .json)
      let afterInterrupt = "nothing was written"
      let (name, inheritance) = (name, inheritance)
      let proposal = try await progress.read(file, afterInterrupt: afterInterrupt) {
        try $0.inspect(name: name, inheritance: inheritance)
      }
      let written = try proposed.write(
        ProposedFiles(
          name: proposal.name, mapping: proposal.mapping, migration: proposal.migration))
      let text = ProposalText(
        proposal: proposal, file: file, mapping: proposed.mapping, migrations: proposed.migration,
        written: written, clashes: try clashes(of: proposal), options: options)
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

    /// Entities that another line of this program or of the operator makes, too.
    private func clashes(of proposal: ImportProposal) throws -> [String] {
      let others = try options.migrationLines().filter { $0.name != proposal.name }
      let schema = try Schema(of: others)
      return Set(proposal.entities.map(\.entity)).filter { schema.entity(named: $0) != nil }
        .sorted()
    }
  }
}
