import ArgumentParser
import Console
import EntityStore
import Foundation
import PostgreSQL
import StoreHub

struct HubCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "hub",
    abstract: "Shares the store with other machines, through a PostgreSQL database.",
    discussion: """
      Every machine has the whole store and reads it alone. The database holds the order of the \
      commits: one machine writes at a time. All commands then work as on one machine; without a \
      connection they read, and a write ends with 75.

      The connection string comes from $MOORING_HUB, from the systemd credential mooring-hub, or \
      from a service file by --hub service=NAME.
      """,
    subcommands: [
      Create.self, Join.self, Leave.self, Status.self, Tables.self, Trim.self, Check.self,
    ])
}

/// The database of the hub, on the command line.
struct HubOptions: ParsableArguments {
  @Option(
    name: .customLong("hub"),
    help: ArgumentHelp(
      "The section of the PostgreSQL service file that has the connection string.",
      discussion: "Default: $MOORING_HUB, then the systemd credential mooring-hub.",
      valueName: "service=NAME"))
  var hub: String?

  @Option(help: "The name of this machine in the hub. Default: its host name.")
  var machine: String?

  func validate() throws {
    _ = try service
    if let machine, !HubMembership.isName(machine) {
      throw ValidationError("--machine takes 1 to 32 letters, digits, dots, hyphens")
    }
  }

  /// The named section of the service file.
  var service: String? {
    get throws {
      guard let hub else { return nil }
      guard let name = hub.wholeMatch(of: /service=([^\s'"\\=]+)/) else {
        throw ValidationError(
          "--hub takes service=NAME only, because others can read a command line; "
            + "set MOORING_HUB for another connection string")
      }
      return String(name.1)
    }
  }

  var machineName: String {
    if let machine { return machine }
    let name = ProcessInfo.processInfo.hostName
    return HubMembership.isName(name) ? name : "machine"
  }

  /// Returns the steps for the store of a folder.
  func setup(_ options: StoreOptions) throws -> HubSetup {
    HubSetup(
      folder: options.folder, database: try database(), service: try service,
      machineName: machineName, program: "\(Message.programName) \(Version.text)")
  }

  /// - Parameter membership: That of the store, whose service is the default.
  func database(of membership: HubMembership? = nil) throws -> ConnectionString {
    let named = try service
    let environment = named == nil ? ProcessInfo.processInfo.environment : [:]
    let database = try translatingStorageErrors {
      try ConnectionString.ofHub(service: named ?? membership?.service, environment: environment)
    }
    guard let database else {
      throw CommandError(
        .configuration,
        "there is no connection string for the hub; set MOORING_HUB, or name --hub service=NAME")
    }
    return database
  }
}

extension StoreOptions {
  /// The place of the store in its hub.
  ///
  /// - Throws: Exit status 69 for a store that is in no hub.
  func membership() throws -> HubMembership {
    guard let membership = try translatingStorageErrors({ try HubMembership.read(inStore: folder) })
    else {
      throw CommandError(
        .unavailable,
        "the store \(folder) is in no hub; see `mooring hub create --help` and "
          + "`mooring hub join --help`")
    }
    return membership
  }
}

extension LongCommand {
  /// Runs work that copies the store to or from its hub.
  func copyingSnapshot<R: Sendable>(
    afterInterrupt: String,
    _ body: @escaping @Sendable (_ progress: (SnapshotProgress) throws -> Void) throws -> R
  ) async throws -> R {
    try await runBlocking(afterInterrupt: afterInterrupt) {
      try translatingStorageErrors {
        try body { progress in
          try self.checkInterrupt()
          self.report("copying bytes", done: Int64(progress.bytes), of: Int64(progress.total))
        }
      }
    }
  }
}
