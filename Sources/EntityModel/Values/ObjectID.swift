public import Foundation

/// The identity of a record within its store: a number of 64 bits for each entity, never used again
/// (Core Data's object id, SQLite's rowid). It does not depend on the record's content.
public struct ObjectID: Hashable, Codable, Sendable, CustomStringConvertible {
  public let entity: String
  public let number: Int64

  public init(entity: String, number: Int64) {
    self.entity = entity
    self.number = number
  }

  public var description: String { "\(entity)/\(number)" }

  /// True for the identity of a record that a draft has inserted and not saved. The save replaces
  /// it by another one.
  public var isTemporary: Bool { ObjectID.isTemporary(number) }

  /// The least temporary number. Temporary numbers are greater than all others, so that inserted
  /// records come last in order of identity, before and after the save.
  package static let firstTemporaryNumber: Int64 = 1 << 62

  package static func isTemporary(_ number: Int64) -> Bool { number >= firstTemporaryNumber }

  /// Returns the reference for use outside of the program: `mooring://<store-uuid>/<Entity>/<id>`.
  public func reference(in store: UUID) -> String {
    "mooring://\(store.uuidString.lowercased())/\(entity)/\(number)"
  }

  /// Reads a reference back.
  ///
  /// - Returns: `nil` for a malformed reference or one of another store.
  public init?(reference: String, in store: UUID) {
    let parts = reference.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 5, parts[0] == "mooring:", parts[1].isEmpty,
      UUID(uuidString: String(parts[2])) == store, !parts[3].isEmpty, let number = Int64(parts[4])
    else { return nil }
    self.init(entity: String(parts[3]), number: number)
  }

  /// Returns the reference as a URL, for interfaces that expect one (Core Data's
  /// `uriRepresentation`).
  public func url(in store: UUID) -> URL {
    var components = URLComponents()
    components.scheme = "mooring"
    components.host = store.uuidString.lowercased()
    components.path = "/\(entity)/\(number)"
    // The URL always exists: the path begins with a slash, and other characters are escaped.
    return components.url ?? URL(filePath: components.path)
  }

  /// Reads a URL back.
  ///
  /// - Returns: `nil` for another kind of URL or one of another store.
  public init?(url: URL, in store: UUID) {
    guard let reference = url.absoluteString.removingPercentEncoding else { return nil }
    self.init(reference: reference, in: store)
  }
}
