import EntityModel
import EntityStore
import Foundation
import HTTPClient

/// What hosts have asked of everybody, in the store, so that all processes see it.
struct Hosts: Sendable {
  private static let entityName = "_Host"

  /// Whether the name can only be one of the operator's own network. Such a host is often many
  /// services behind one name, each of which speaks for itself.
  static func isPrivate(_ host: String) -> Bool {
    let name = host.trimmingCharacters(in: ["[", "]", "."])
    if let address = IPAddress(text: name) { return !address.isPublic }
    return !name.contains(".")
      || ["localhost", "local", "internal", "home.arpa", "lan"].contains {
        name.hasSuffix(".\($0)")
      }
  }

  /// Until when the host has asked to wait.
  static func wait(for host: String, in transaction: ReadTransaction) throws -> Date? {
    guard let id = try transaction.objectID(entityName, by: ["name": .string(host)]),
      case .date(let until) = try transaction.get(id)?["waitUntil"]
    else { return nil }
    return until
  }

  /// Remembers that the host has asked to wait, at least until then, and forgets the hosts whose time has passed, so that
  /// they are no more than those that wait.
  static func note(
    _ host: String, waitUntil until: Date, now: Date, in transaction: WriteTransaction
  ) throws {
    let passed = FetchRequest(
      entityName: entityName,
      predicate: .comparison("waitUntil", .lessOrEqual, .date(now)))
    for id in try transaction.fetchIdentifiers(passed) { try transaction.delete(id) }
    // A feed that was under way may bring a shorter wait; one beyond all bounds is of a wrong clock.
    var latest = until
    if let old = try wait(for: host, in: transaction),
      old.timeIntervalSince(now) <= Limits.waitMax
    {
      latest = max(until, old)
    }
    try transaction.upsert(
      entityName, ["name": .string(host), "waitUntil": .date(latest)], by: ["name"])
  }

  /// The host has answered as it should.
  static func forget(_ host: String, in transaction: WriteTransaction) throws {
    guard let id = try transaction.objectID(entityName, by: ["name": .string(host)]) else { return }
    try transaction.delete(id)
  }
}
