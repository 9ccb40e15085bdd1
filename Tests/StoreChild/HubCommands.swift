import DurableJobs
import EntityModel
import EntityStore
import Foundation
import Migrations
import PostgreSQL
import StoreHub
import TestSupport

/// Commands on a store of a hub: `hub-write FOLDER CONNECTION NAME`.
///
/// - Returns: `false` if the command is not one of them.
func runHubCommand(_ arguments: [String]) async throws -> Bool {
  guard arguments.count == 4, arguments[0] == "hub-write" else { return false }
  let (folder, name) = (arguments[1], arguments[3])
  guard let membership = try HubMembership.read(inStore: folder) else { return false }
  var options = Store.Options()
  options.mapSize = 1 << 30
  let address = HubAddress(
    database: try ConnectionString(arguments[2]), membership: membership)
  address.addLog(to: &options)
  let store = try Store.open(
    at: folder, migrations: [.model, .jobs], migrate: .never, options: options)
  say("begins")
  // Names that are written, each after its commit.
  for number in 0... {
    let record = "\(name) \(number)"
    try await store.write { _ = try $0.insert("Sample", ["name": .string(record)]) }
    say(record)
  }
  return true
}
