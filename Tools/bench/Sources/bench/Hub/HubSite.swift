import Foundation
import Mooring
import StatusModel
@_spi(Measurement) import StoreHub

/// The folders of all machines, and the database that they share.
struct HubSite {
  let scratch: ScratchFolder
  /// The disk of the machines that join a hub. The others and the database are on disk 0.
  let joinedDisk: Int
  let server: DatabaseServer
  /// The path of the program `mooring`.
  let mooring: String

  /// Returns the folder of a machine's store.
  func folder(_ machine: String) -> URL {
    let name = "machine-\(machine)"
    let joined = scratch.folder(name, on: joinedDisk)
    let hasJoined = FileManager.default.fileExists(atPath: joined.path)
    return hasJoined ? joined : scratch.folder(name)
  }

  /// Creates a store without a hub.
  func makeStore(_ machine: String) throws -> Store {
    try open(try scratch.emptyFolder("machine-\(machine)"), Store.Options())
  }

  /// Makes the store of a machine the first of a hub of the same name.
  ///
  /// - Returns: The seconds that the command took.
  func createHub(_ machine: String) throws -> Double {
    try run(["hub", "create", "--name", machine, "--machine", machine], on: machine)
  }

  /// Joins a machine to a hub.
  ///
  /// - Returns: The seconds that the command took.
  func join(_ machine: String, to hub: String) throws -> Double {
    _ = try scratch.emptyFolder("machine-\(machine)", on: joinedDisk)
    return try run(["hub", "join", "--name", hub, "--machine", machine], on: machine)
  }

  /// Opens the store of a machine, whose commits go through the hub.
  ///
  /// - Parameter follows: True to apply what other machines commit as it comes.
  func openInHub(_ machine: String, follows: Bool = false) throws -> Store {
    var options = Store.Options()
    let folder = folder(machine)
    let place = try HubMachine(inStore: folder.path, connection: server.connectionText)
    place.addLog(to: &options)
    let store = try open(folder, options)
    if follows { try place.follow(store) }
    return store
  }

  func open(_ folder: URL, _ options: Store.Options) throws -> Store {
    try Store.open(
      at: folder.path, migrations: [.feeds, .homeFeed, .jobs, .legacyImport, .figures, .actions],
      migrate: .ifEmpty, requiring: [HomeFeed.Episode.self], options: options)
  }

  /// Starts a command of `mooring` on the store of a machine.
  func start(_ arguments: [String], on machine: String) throws -> Process {
    let process = Process()
    process.executableURL = URL(filePath: mooring)
    process.arguments = arguments + ["--store", folder(machine).path]
    process.environment = ProcessInfo.processInfo.environment.merging(variables) { $1 }
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = FileHandle.nullDevice
    try process.run()
    return process
  }

  /// Starts a worker, which follows the hub.
  func startWorker(on machine: String) throws -> Process {
    try start(["worker", "--concurrency", "4", "--log-level", "warning"], on: machine)
  }

  private func run(_ arguments: [String], on machine: String) throws -> Double {
    let assignments = variables.map { "\($0)=\($1)" }
    return try TimedProgram(
      "/usr/bin/env",
      assignments + [mooring] + arguments + ["--quiet", "--store", folder(machine).path]
    ).run().seconds
  }

  private var variables: [String: String] { ["MOORING_HUB": server.connectionText] }
}

extension Store {
  /// Inserts episodes that no feed lists, with the record ids from 1.
  func insertOwnEpisodes(_ count: Int) async throws {
    try await write { transaction in
      for number in 1...count {
        try transaction.insert(HomeFeed.Episode(id: "own:\(number)", title: "Own \(number)"))
      }
    }
  }

  /// Writes one number of one episode.
  func setProgress(_ progress: Double, of number: Int) async throws {
    try await write { transaction in
      try transaction.update(ObjectID(entity: "Episode", number: Int64(number))) {
        try $0.set("progress", to: .double(progress))
      }
    }
  }

  func progress(of number: Int) throws -> Double? {
    let record = try read { try $0.get(ObjectID(entity: "Episode", number: Int64(number))) }
    guard case .double(let progress)? = try record?["progress"] else { return nil }
    return progress
  }
}

/// Compares the episodes of two machines.
///
/// - Throws: `mismatch` if their numbers or the sums of their values differ.
func requireEqual(_ first: Store, _ second: Store) throws {
  let answers = try [first, second].map { store in
    try store.catchUp()
    var request = FetchRequest(entityName: HomeFeed.Episode.entityName)
    request.propertiesToFetch = [
      .count(as: "count"), .sum("progress", as: "progress"), .sum("duration", as: "duration"),
    ]
    return try store.read { try $0.fetchRows(request).map { "\($0.values)" } }
  }
  guard answers[0] == answers[1] else {
    throw BenchError(.mismatch, "two machines of a hub have \(answers)")
  }
}
