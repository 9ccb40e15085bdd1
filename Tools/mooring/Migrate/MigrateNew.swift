import ArgumentParser
import Console
import EntityStore

extension Migrate {
  struct New: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "new",
      abstract: "Writes the next migration file of a line, to be filled in.",
      discussion: """
        mooring migrate new local episode_notes --dir migrations

        The number follows the last one of the line. What the file requires of other lines is \
        their last known versions. An existing file is never overwritten.
        """)

    @OptionGroup var options: StoreOptions
    @Argument(help: "The line, such as local.") var line: String
    @Argument(help: "What it does, in a few words of a-z, 0-9 and _, such as episode_notes.")
    var slug: String
    @Option(
      help: ArgumentHelp(
        "Where it is written. Default: the folder of --migrations, if that is one.",
        valueName: "dir"))
    var dir: String?

    func validate() throws {
      try MigrationDraft.validate(line: line)
      guard slug.wholeMatch(of: /[a-z0-9][a-z0-9_]{0,99}/) != nil else {
        throw ValidationError("\"\(slug)\" is no name for a file; use a-z, 0-9 and _")
      }
    }

    func run() async throws {
      let folder = try folder()
      let draft = try MigrationDraft(line: line, slug: slug, in: folder, options)
      let path = try draft.write(draft.skeleton, to: folder)
      try StandardOutput.with { try $0.write(path + "\n") }
      if options.quiet { return }
      Message.say(
        "number \(draft.version), because \(draft.reason); check it with `mooring migrate lint`")
    }

    private func folder() throws -> String {
      if let dir { return dir }
      let folders = options.migrationFolders
      guard folders.count == 1 else {
        throw CommandError(.usage, "name the folder for it: --dir DIR")
      }
      return folders[0]
    }
  }
}
