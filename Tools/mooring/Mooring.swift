import ArgumentParser
import Console
import DurableJobs
import EntityStore
import FeedSync
import HTTPClient
import HomeFeed
import LegacyImport
import Migrations

@main
enum Program {
  static func main() { CommandLineEntry.run(Mooring.self) }
}

struct Mooring: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "mooring",
    abstract: "Keeps content feeds moored to this machine.",
    version: Version.text,
    subcommands: [
      Sync.self, FeedCommand.self, Home.self, Fetch.self, SetCommand.self, BatchCommand.self,
      JobsCommand.self, Migrate.self, ImportCommand.self, SchemaVerb.self, Check.self,
      ExportCommand.self, BackupCommand.self, RestoreCommand.self, CompactCommand.self,
      HubCommand.self, WorkerCommand.self, ConfigCommand.self,
    ])
}
