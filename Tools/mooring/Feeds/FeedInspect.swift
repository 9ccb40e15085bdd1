import ArgumentParser
import Console
import EntityStore
import FeedSync
import Foundation
import HTTPClient
import WorkerService

extension FeedCommand {
  struct Inspect: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "inspect",
      abstract: "Inspects the document of a URL and proposes a mapping and a migration.",
      discussion: """
        mooring feed inspect https://example.org/talks --mapping talks.yaml --migration migrations

        Sends one request, and needs no store. Without --mapping and --migration nothing is \
        written. RSS, Atom, JSON Feed and homefeed/1 need no mapping: `mooring feed add URL` is \
        enough. Uncertain guesses are marked in the mapping by a comment that begins with \
        `unconfirmed`.
        """)

    @OptionGroup var options: StoreOptions
    @Argument(help: "An http or https URL.") var url: String
    @Option(
      help: ArgumentHelp(
        "The entity of the items. The migration creates it if it does not exist.",
        valueName: "entity"), completion: .entity)
    var entity = "Episode"
    @OptionGroup var proposed: ProposalOptions
    @Option(help: "The name of the mapping and of the line of migrations. Default: of the host.")
    var name: String?
    @OptionGroup var request: FeedRequestOptions
    @Option(help: "table or json.", completion: .tableOrJSON) var format = OutputFormat.table

    func validate() throws {
      try format.require(.table, .json)
      if let name { try MigrationDraft.validate(line: name) }
      guard entity.wholeMatch(of: /[A-Za-z][A-Za-z0-9_]{0,62}/) != nil else {
        throw ValidationError("\"\(entity.prefix(64))\" is no name of an entity")
      }
    }

    func run() async throws {
      // Before anybody is asked.
      try proposed.requireFree()
      let inspection = try await inspect()
      let written = try write(inspection)
      let text = FeedInspectionText(
        inspection: inspection, url: url, requestWords: request.words, mapping: proposed.mapping,
        migrations: proposed.migration, written: written, options: options)
      try format.write(text.document) { try text.write(&$0) }
    }

    private func inspect() async throws -> FeedInspection {
      let settings = try WorkerSettings.load(environment: ProcessInfo.processInfo.environment)
        .settings
      let inspector = try FeedInspector(
        transport: try CurlTransport.naming(settings.contact), lines: try options.migrationLines())
      var feed = Feeds.Settings()
      try request.apply(to: &feed)
      return try await inspector.inspect(
        .init(url: url, settings: feed, entity: entity, name: name))
    }

    /// With the migration the mapping has what that makes.
    private func write(_ inspection: FeedInspection) throws -> [String] {
      if proposed.mapping == nil, proposed.migration == nil { return [] }
      let chosen = proposed.migration == nil ? inspection.mapping : inspection.wholeMapping
      guard let chosen else {
        throw CommandError(
          .badData,
          inspection.notes.last
            ?? "\(inspection.format) is read without a mapping; type `mooring feed add "
            + "\(inspection.url)`"
        )
      }
      return try proposed.write(
        ProposedFiles(name: inspection.name, mapping: chosen, migration: inspection.migration))
    }
  }
}
