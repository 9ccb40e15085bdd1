import DurableJobs
import EntityModel
import EntityStore
import FeedSync
import Foundation
import Glibc
import HTTPClient
import HomeFeed
import Migrations
import PostgreSQL
import StoreHub
import StoreTables
import SystemSupport
import TestSupport

/// Commands on a store of a hub, in the database of `MOORING_HUB`: `hub-… FOLDER NAME=VALUE…`.
///
/// - Returns: `false` if the command is not one of them.
func runHubCommand(_ arguments: [String]) async throws -> Bool {
  guard arguments.count >= 2, arguments[0].hasPrefix("hub-") else { return false }
  let settings = Settings(folder: arguments[1], arguments.dropFirst(2))
  switch arguments[0] {
  case "hub-write": try await write(settings)
  case "hub-sync": try await syncFeeds(settings)
  case "hub-join": try join(settings)
  case "hub-tables": try writeTables(settings)
  default: return false
  }
  return true
}

// MARK: Opening

extension Store.Options {
  /// Lets a store share its commits and locks, if it is in a hub.
  ///
  /// - Returns: The place of the store in its hub.
  @discardableResult
  mutating func addHub(ofStoreIn folder: String) throws -> HubAddress? {
    guard let membership = try HubMembership.read(inStore: folder),
      let database = try ConnectionString.ofHub(
        service: nil, environment: ProcessInfo.processInfo.environment)
    else { return nil }
    let address = HubAddress(database: database, membership: membership)
    address.addLog(to: &self)
    return address
  }
}

/// Opens a store, and follows its hub if it is in one.
func openFollowing(
  _ folder: String, _ sources: [MigrationSource], _ options: inout Store.Options
) throws -> Store {
  let address = try options.addHub(ofStoreIn: folder)
  let store = try Store.open(at: folder, migrations: sources, options: options)
  if let address { _ = try HubFollower(store, of: address) }
  return store
}

/// Opens a store that is in a hub; `nil` for another one.
func openInHub(_ folder: String, _ sources: [MigrationSource]) throws -> Store? {
  var options = Store.Options()
  options.mapSize = 1 << 30
  guard try options.addHub(ofStoreIn: folder) != nil else { return nil }
  return try Store.open(at: folder, migrations: sources, migrate: .never, options: options)
}

// MARK: Commands

/// Inserts records `NAME NUMBER`, and prints each after its commit.
private func write(_ settings: Settings) async throws {
  guard let store = try openInHub(settings.folder, [.model, .jobs]) else { return }
  say("begins")
  for number in 0... {
    let record = "\(settings.text("name")) \(number)"
    try await store.write { _ = try $0.insert("Sample", ["name": .string(record)]) }
    say(record)
  }
}

/// Brings the store of a hub to the folder.
private func join(_ settings: Settings) throws {
  let database = try ConnectionString.ofHub(
    service: nil, environment: ProcessInfo.processInfo.environment)
  guard let database else { return }
  let setup = HubSetup(
    folder: settings.folder, database: database, service: nil,
    machineName: settings.text("machine"), program: "child")
  var options = Store.Options()
  options.mapSize = 1 << 30
  _ = try setup.join(named: settings.text("name"), opening: options)
  say("joined")
}

/// Updates the table of an entity again and again.
private func writeTables(_ settings: Settings) throws {
  var options = Store.Options()
  options.mapSize = 1 << 30
  guard let address = try options.addHub(ofStoreIn: settings.folder) else { return }
  let store = try Store.open(
    at: settings.folder, migrations: [.model, .jobs], migrate: .never, options: options)
  say("begins")
  let writer = TableWriter(store, of: address)
  while true { _ = try writer.update(adding: [settings.text("entity")]) }
}

/// Syncs all feeds again and again, four at a time, in a drawn order. Prints `asked HOST TIME` for
/// each request and `synced FEED` for each run that has ended well.
private func syncFeeds(_ settings: Settings) async throws {
  let locks = try RunLocks(settings.text("runs"))
  var options = Store.Options()
  options.mapSize = 1 << 30
  let store = try openFollowing(settings.folder, [.homeFeed, .feeds], &options)
  let spacing = Duration.milliseconds(settings.number("spacing", or: 0))
  let engine = SyncEngine(
    store: store, transport: CountingTransport(locks: locks), hostSpacing: { spacing })
  var random = SeededRandom(seed: UInt64(settings.number("seed", or: 0)))
  let feeds = try store.read { try $0.fetchIdentifiers(FetchRequest(entityName: "_Feed")) }
  say("ready")
  while true {
    let order = feeds.map(\.number).shuffled(using: &random)
    await withTaskGroup(of: Void.self) { group in
      for worker in 0..<4 {
        group.addTask {
          for feed in stride(from: worker, to: order.count, by: 4) {
            await sync(order[feed], with: engine)
          }
        }
      }
    }
  }
}

private func sync(_ feed: Int64, with engine: SyncEngine) async {
  do {
    // An answer that is still fresh would end the requests.
    var options = SyncEngine.Options()
    options.ignoresWait = true
    _ = try await engine.sync(feed, options: options)
    say("synced \(feed)")
  } catch let error as SyncError where error.code == .busy {
    // Another process has it.
  } catch let error as StoreError where error.isTemporary {
    say("later \(error)")
  } catch {
    say("error \(feed) \(error)")
  }
}

/// A network whose hosts answer each URL `http://HOST/NUMBER` with a feed of three items.
private struct CountingTransport: HTTPTransport {
  let locks: RunLocks

  func send(_ request: HTTPRequest) async throws -> HTTPResponse {
    let url = URL(string: request.url)
    let number = url.flatMap { Int($0.lastPathComponent) } ?? 0
    return try await locks.during(number) {
      say("asked \(url?.host ?? "") \(monotonicTime())")
      // A kill may come during a request.
      try await Task.sleep(for: .milliseconds(20))
      let items = (0..<3).map {
        #"{"id": "\#(number)-\#($0)", "title": "Item", "url": "https://a.example/\#(number)/\#($0)"}"#
      }
      let text =
        #"{"version": "https://jsonfeed.org/version/1.1", "title": "F", "items": ["#
        + items.joined(separator: ",") + "]}"
      return HTTPResponse(
        status: 200, headers: [("Content-Type", "application/feed+json")],
        body: PaddedBytes(Array(text.utf8)), effectiveURL: request.url, isHostPublic: true)
    }
  }
}

/// The nanoseconds of the clock that all processes share.
private func monotonicTime() -> Int {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  return time.tv_sec * 1_000_000_000 + time.tv_nsec
}
