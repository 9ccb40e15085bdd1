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
    discussion: """
      mooring feed add https://example.org/feed.xml
      mooring sync
      mooring home

      --version --verbose also prints the commit and the versions of the libraries.
      """,
    version: Version.shown(
      with: [("curl", CurlTransport.libraryVersion), ("SQLite", LegacyFile.libraryVersion)]),
    subcommands: [
      Sync.self, FeedCommand.self, Home.self, Fetch.self, SetCommand.self, BatchCommand.self,
      JobsCommand.self, Migrate.self, ImportCommand.self, SchemaVerb.self, Check.self,
      ExportCommand.self, BackupCommand.self, RestoreCommand.self, CompactCommand.self,
      HubCommand.self, WorkerCommand.self, ConfigCommand.self, StatusCommand.self, TopCommand.self,
      ServeCommand.self, ReportCommand.self,
    ])
}
