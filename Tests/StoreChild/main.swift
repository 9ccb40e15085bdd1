import Glibc

// A process for tests that need a second one: `store-child COMMAND ARGUMENT…`. Each layer has its
// own commands; each returns `false` for a command it does not know.
let arguments = Array(CommandLine.arguments.dropFirst())
do {
  var isKnown = try runLMDBCommand(arguments)
  if !isKnown { isKnown = try await runStoreCommand(arguments) }
  if !isKnown { isKnown = try await runObservationCommand(arguments) }
  if !isKnown { isKnown = try await runSyncCommand(arguments) }
  if !isKnown { isKnown = try await runMigrationCommand(arguments) }
  if !isKnown { isKnown = try await runBackupCommand(arguments) }
  if !isKnown { isKnown = try await runJobCommand(arguments) }
  if !isKnown { isKnown = try await runPowerCommand(arguments) }
  if !isKnown { isKnown = try runImportCommand(arguments) }
  if !isKnown { isKnown = try await runHubCommand(arguments) }
  guard isKnown else {
    say("unknown command: \(arguments)")
    exit(64)
  }
} catch {
  say("error: \(error)")
  exit(1)
}
