import Foundation
package import PostgreSQL
package import SystemSupport

/// The database of a hub, and this machine's place in it.
package struct HubAddress: Sendable {
  package let database: ConnectionString
  package let membership: HubMembership

  package init(database: ConnectionString, membership: HubMembership) {
    self.database = database
    self.membership = membership
  }

  var hub: UUID { membership.hub }
  var machine: UUID { membership.machine }
}

extension ConnectionString {
  /// The variable of the environment with the connection string of the hub.
  package static let hubVariable = "MOORING_HUB"
  /// The name of the systemd credential with it.
  package static let hubCredential = "mooring-hub"
  private static let bytesMax = 4_096

  /// Returns the connection string of a hub: from `MOORING_HUB`, from the systemd credential
  /// `mooring-hub`, or that of a section of the service file.
  ///
  /// - Parameter service: The section that the store remembers.
  /// - Returns: `nil` if there is none.
  /// - Throws: `StorageError` with `.needsCommitLog` if it cannot be read.
  package static func ofHub(
    service: String?, environment: [String: String]
  ) throws(StorageError) -> ConnectionString? {
    if let text = environment[hubVariable], !text.isEmpty { return try parse(text, hubVariable) }
    if let folder = environment["CREDENTIALS_DIRECTORY"], !folder.isEmpty {
      let path = folder + "/" + hubCredential
      var bytes: [UInt8]?
      do throws(SystemError) {
        bytes = try BoundedFile.read(path, bytesMax: bytesMax)
      } catch {
        guard error.number == ENOENT else {
          throw .system(
            error, "the credential of the hub cannot be read", context: [("path", path)])
        }
      }
      if let bytes {
        let text = String(decoding: bytes, as: UTF8.self)
        return try parse(text.trimmingCharacters(in: .whitespacesAndNewlines), path)
      }
    }
    return try service.map { name throws(StorageError) in
      try parse("service=\(name)", "hub.json")
    }
  }

  private static func parse(
    _ text: String, _ place: String
  ) throws(StorageError) -> ConnectionString {
    do {
      return try ConnectionString(text)
    } catch {
      throw StorageError(
        .needsCommitLog, "the connection string of the hub cannot be read",
        context: [("from", place), ("cause", error.message)],
        advice: "write host=… dbname=… user=…, or postgresql://…")
    }
  }
}

extension UUID {
  /// The sixteen bytes as a number, the first one the highest.
  package var number: UInt128 {
    withUnsafeBytes(of: uuid) { UInt128(bigEndian: $0.loadUnaligned(as: UInt128.self)) }
  }
}

extension UInt128 {
  /// The sixteen bytes, the highest first.
  var bytes: [UInt8] { withUnsafeBytes(of: bigEndian) { Array($0) } }

  /// Reads sixteen bytes; `nil` if there are more or fewer.
  init?(bytes: UnsafeRawBufferPointer) {
    guard bytes.count == 16 else { return nil }
    self = UInt128(bigEndian: bytes.loadUnaligned(as: UInt128.self))
  }
}
