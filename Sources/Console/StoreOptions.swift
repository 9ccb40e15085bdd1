public import ArgumentParser
internal import CMooringBuild
public import EntityStore
import Foundation
public import Migrations
import PostgreSQL
package import StoreHub

/// The options that all commands share.
public struct StoreOptions: ParsableArguments {
  @Option(
    name: .long,
    help: ArgumentHelp(
      "The folder of the store.",
      discussion: """
        Default: $MOORING_STORE, then $STATE_DIRECTORY, then \
        \(packaged ?? "$XDG_STATE_HOME/mooring, then ~/.local/state/mooring").
        """, valueName: "path"), completion: .directory)
  public var store: String?

  @Option(
    name: .long,
    help: ArgumentHelp(
      "A folder of migration files besides the built-in ones; may be repeated. "
        + "Default: $MOORING_MIGRATIONS, separated by colons.", valueName: "dir"),
    completion: .directory)
  public var migrations: [String] = []

  @Option(
    name: .long,
    help: ArgumentHelp(
      "Address space for the store, such as 8G. Default: $MOORING_MAP_SIZE, then 64G.",
      valueName: "bytes"))
  public var mapSize: String?

  @Option(
    name: .long,
    help: ArgumentHelp(
      "How long a write waits while another process writes. Default: 10.", valueName: "seconds"))
  public var waitForWriter: Double?

  @Flag(name: .long, help: "In a hub, first read what other machines have committed.")
  public var fresh = false

  @Flag(name: .long, help: "No progress and no messages; errors only.")
  public var quiet = false

  public init() {}

  public var folder: String { Self.folder(store, ProcessInfo.processInfo.environment) }

  public var migrationSources: [MigrationSource] {
    migrationFolders.map(MigrationSource.directory)
  }

  /// The folders of migration files that the operator names.
  public var migrationFolders: [String] {
    if !migrations.isEmpty { return migrations }
    let list = ProcessInfo.processInfo.environment["MOORING_MIGRATIONS"]
    return list?.split(separator: ":").map(String.init) ?? []
  }

  public func validate() throws {
    _ = try optionsOfCommandLine()
  }

  /// Returns the options with which a command opens a store. A store of a hub gets the log of the
  /// hub, unless there is no connection string: then it can be read.
  ///
  /// - Throws: `ValidationError` for a size or a time that cannot be; `StoreError` for a connection
  ///   string, or a place in a hub, that cannot be read.
  public func storeOptions() throws -> Store.Options {
    var options = try optionsOfCommandLine()
    try hubAddress()?.addLog(to: &options)
    return options
  }

  /// Returns the hub of the store; `nil` if it is in none, or if there is no connection string.
  package func hubAddress() throws -> HubAddress? {
    try translatingStorageErrors {
      guard let membership = try HubMembership.read(inStore: folder) else { return nil }
      let database = try ConnectionString.ofHub(
        service: membership.service, environment: ProcessInfo.processInfo.environment)
      return database.map { HubAddress(database: $0, membership: membership) }
    }
  }

  private func optionsOfCommandLine() throws -> Store.Options {
    var options = Store.Options()
    options.endsOnPageFaults = true
    options.program = "\(Message.programName) \(Version.text)"
    if let seconds = waitForWriter {
      guard seconds >= 0, seconds <= 86_400 else {
        throw ValidationError("--wait-for-writer takes 0 to 86400 seconds")
      }
      options.writerDeadline = .seconds(seconds)
    }
    let text = mapSize ?? ProcessInfo.processInfo.environment["MOORING_MAP_SIZE"]
    guard let text else { return options }
    guard let bytes = Self.bytes(text), bytes >= 1 << 20 else {
      throw ValidationError("\"\(text)\" is no size of a map; write 64G or 512M, at least 1M")
    }
    options.mapSize = bytes
    return options
  }

  /// Opens an existing store to read. This works without write permission and on read-only devices.
  ///
  /// - Parameter sources: The migrations that the program knows; needed only to report on them.
  /// - Parameter verifies: True to compare what is read with its seals.
  public func openToRead(
    _ sources: [MigrationSource] = [], verifies: Bool = false
  ) throws -> Store {
    var opening = try storeOptions()
    opening.verifiesReads = verifies
    opening.isReadOnly = !fresh || opening.commitLog == nil
    let store = try Store.open(
      at: folder, migrations: sources, migrate: .never, options: opening)
    if !opening.isReadOnly { try store.catchUp() }
    return store
  }

  static func folder(_ option: String?, _ environment: [String: String]) -> String {
    func value(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
    if let path = option ?? value("MOORING_STORE") ?? value("STATE_DIRECTORY") ?? packaged {
      return path
    }
    if let path = value("XDG_STATE_HOME") { return path + "/mooring" }
    return (value("HOME") ?? "/") + "/.local/state/mooring"
  }

  /// The store of the machine, if the program is that of a package.
  private static let packaged: String? = {
    // SAFETY: the text is a constant.
    let path = String(cString: mooring_build_store())
    return path.isEmpty ? nil : path
  }()

  /// Returns the bytes of a size such as `64G` or `512M`; nil for any other text. The units are
  /// powers of 1,024.
  public static func bytes(_ text: String) -> Int? {
    let units: [Character: Int] = ["K": 10, "M": 20, "G": 30, "T": 40]
    guard let last = text.last?.uppercased().first, let shift = units[last] else {
      return Int(text)
    }
    guard let number = Int(text.dropLast()), number > 0, number < 1 << 20 else { return nil }
    return number << shift
  }
}
