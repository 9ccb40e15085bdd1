import ArgumentParser

/// Where an inspection writes what it proposes, as it is typed.
struct ProposalOptions: ParsableArguments {
  @Option(help: ArgumentHelp("Write the mapping there.", valueName: "out.yaml"))
  var mapping: String?
  @Option(
    help: ArgumentHelp(
      "Write the migration into this folder, which is made if it is missing.", valueName: "dir"))
  var migration: String?
  @Flag(help: "Replace what an earlier inspection has written.") var force = false

  func validate() throws {
    if force, mapping == nil, migration == nil {
      throw ValidationError("--force is for --mapping and --migration; add one of them")
    }
  }

  var files: ProposalFiles {
    ProposalFiles(mapping: mapping, migrations: migration, replaces: force)
  }
}
