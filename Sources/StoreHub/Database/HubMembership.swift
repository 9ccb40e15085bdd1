package import Foundation
import Glibc
package import SystemSupport

/// The place of a store in a hub, as the file `hub.json` in its folder says it. The file holds no
/// secret: the connection string comes from elsewhere (see `ConnectionString.ofHub`).
package struct HubMembership: Codable, Hashable, Sendable {
  /// The identity of the hub.
  package let hub: UUID
  /// The identity of this machine. A copied folder has that of its original.
  package let machine: UUID
  package let machineName: String
  /// The name of the hub.
  package let name: String
  /// The section of the service file that has the connection string, if it was named.
  package let service: String?

  package init(
    hub: UUID = UUID(), machine: UUID = UUID(), machineName: String, name: String, service: String?
  ) {
    self.hub = hub
    self.machine = machine
    self.machineName = machineName
    self.name = name
    self.service = service
  }

  private static let bytesMax = 4_096

  private static func path(_ folder: String) -> String { folder + "/hub.json" }

  /// Reads the file.
  ///
  /// - Returns: `nil` if the store is in no hub.
  /// - Throws: `StorageError` with `.damaged` for another content; of the system.
  package static func read(inStore folder: String) throws(StorageError) -> HubMembership? {
    let path = path(folder)
    let bytes: [UInt8]
    do throws(SystemError) {
      let descriptor = try FolderFile.open(path, .readOnly)
      defer { close(descriptor) }
      bytes = try BoundedFile.read(descriptor, bytesMax: bytesMax)
    } catch {
      if error.number == ENOENT || error.number == ENOTDIR { return nil }
      throw .system(
        error, "the place of the store in its hub cannot be read", context: [("path", path)])
    }
    do {
      return try JSONDecoder().decode(HubMembership.self, from: Data(bytes))
    } catch {
      throw StorageError(
        .damaged, "the place of the store in its hub is unreadable", context: [("path", path)],
        advice: "restore the file from a backup, or remove it and join the store to its hub again")
    }
  }

  /// Replaces the file. After a kill at any moment it is the old one or the new one.
  package func write(inStore folder: String) throws {
    let path = Self.path(folder)
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
    let bytes = Array(try encoder.encode(self)) + Array("\n".utf8)
    do throws(SystemError) {
      try FolderFile.replace(path, with: bytes)
    } catch {
      throw StorageError.system(
        error, "the place of the store in its hub cannot be written", context: [("path", path)])
    }
  }

  /// Removes the file; does nothing if there is none.
  package static func remove(inStore folder: String) throws(StorageError) {
    let path = path(folder)
    if unlink(path) == 0 || errno == ENOENT { return }
    throw .system(
      SystemError(), "the place of the store in its hub cannot be removed",
      context: [("path", path)])
  }

  /// True for a name that a hub or a machine may have. Names of queues contain that of a machine.
  package static func isName(_ text: String) -> Bool {
    text.wholeMatch(of: /[A-Za-z0-9][A-Za-z0-9._-]{0,31}/) != nil
  }
}
