import EntityModel
import EntityStore
import Foundation
import HTTPClient

/// The waits that hosts have requested for all their feeds, stored so that all processes see them.
struct Hosts: Sendable {
  private static let entityName = "_Host"

  /// Returns true if the host can only be on a private network. Such a host often runs several
  /// services, so it is not limited as a whole.
  static func isPrivate(_ host: String) -> Bool {
    let name = host.trimmingCharacters(in: ["[", "]", "."])
    if let address = IPAddress(text: name) { return !address.isPublic }
    return !name.contains(".")
      || ["localhost", "local", "internal", "home.arpa", "lan"].contains {
        name.hasSuffix(".\($0)")
      }
  }

  /// Returns true if the host is this machine.
  static func isLoopback(_ host: String) -> Bool {
    let name = host.trimmingCharacters(in: ["[", "]", "."])
    if name == "localhost" || name.hasSuffix(".localhost") { return true }
    return switch IPAddress(text: name) {
    case .v4(let address): address >> 24 == 127
    case .v6(let network, let interface): network == 0 && interface == 1
    case nil: false
    }
  }

  /// Returns true if any host has requested a wait, which may have ended.
  static func haveWaits(in transaction: ReadTransaction) throws -> Bool {
    guard transaction.schema.entity(named: entityName) != nil else { return false }
    return try transaction.count(of: entityName) > 0
  }

  /// Returns the end of the wait that the host has requested.
  static func wait(for host: String, in transaction: ReadTransaction) throws -> Date? {
    guard let id = try transaction.objectID(entityName, by: ["name": .string(host)]),
      case .date(let until) = try transaction.get(id)?["waitUntil"]
    else { return nil }
    return until
  }

  /// Stores the wait that a host has requested, and removes waits that have ended.
  static func record(
    _ host: String, waitUntil until: Date, now: Date, in transaction: WriteTransaction
  ) throws {
    let passed = FetchRequest(
      entityName: entityName,
      predicate: .comparison("waitUntil", .lessOrEqual, .date(now)))
    for id in try transaction.fetchIdentifiers(passed) { try transaction.delete(id) }
    // A concurrent run may bring a shorter wait. One beyond the bound comes from a wrong clock.
    var latest = until
    if let old = try wait(for: host, in: transaction),
      old.timeIntervalSince(now) <= SyncLimits.waitMax
    {
      latest = max(until, old)
    }
    try transaction.upsert(
      entityName, ["name": .string(host), "waitUntil": .date(latest)], by: ["name"])
  }

  /// Removes the host's wait.
  static func forget(_ host: String, in transaction: WriteTransaction) throws {
    guard let id = try transaction.objectID(entityName, by: ["name": .string(host)]) else { return }
    try transaction.delete(id)
  }
}
