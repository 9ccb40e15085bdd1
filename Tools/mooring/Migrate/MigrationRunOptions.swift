import ArgumentParser
import Console
import EntityStore
import Migrations

/// The options that all commands which run migrations share.
struct MigrationRunOptions: ParsableArguments {
  @Flag(help: "Run steps that lose data; the store is copied first.")
  var allowDestructive = false
  @Flag(help: "Do not copy the store before a step that loses data.") var noBackup = false
  @OptionGroup var lock: MigrationLockOptions
  @Option(help: "table or json.", completion: .tableOrJSON) var format = OutputFormat.table

  func validate() throws { try format.require(.table, .json) }

  func migrationOptions() -> MigrationOptions {
    var options = lock.migrationOptions()
    options.allowsDestructive = allowDestructive
    options.backsUp = !noBackup
    return options
  }
}

/// For whatever takes the lock of migrations.
struct MigrationLockOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "How long to wait while another process migrates; with 0 it ends with 75 at once.",
      valueName: "seconds"))
  var wait = 0.0

  func validate() throws {
    guard wait >= 0, wait <= 86_400 else {
      throw ValidationError("--wait takes 0 to 86400 seconds")
    }
  }

  func migrationOptions() -> MigrationOptions {
    var options = MigrationOptions()
    options.wait = .seconds(wait)
    return options
  }
}
