import EntityObjects
import EntityStore
package import Foundation

/// The metadata of a Core Data store, from the row of `Z_METADATA`.
package struct StoreMetadata: Hashable, Sendable {
  /// The identity of the store, over all versions and copies of its file.
  package var uuid: String?
  /// The version of Core Data that last opened the store.
  package var frameworkVersion: Int64?
  /// The names of the model versions.
  package var modelVersions: [String] = []
  /// The hash of each entity's version, by name.
  package var entityHashes: [String: Data] = [:]

  package init() {}

  /// - Parameter propertyList: The value of `Z_PLIST`.
  /// - Throws: What is wrong with the list; a list that lacks something is not wrong.
  package init(uuid: String?, propertyList: [UInt8]) throws(ArchiveDamage) {
    self.uuid = uuid
    let content: PropertyListValue?
    do throws(BinaryPropertyList.Damage) {
      content = try BinaryPropertyList.content(of: propertyList)
    } catch {
      throw ArchiveDamage(error.text)
    }
    guard case .dictionary(let entries)? = content else {
      throw ArchiveDamage("it is no binary property list")
    }
    if case .int64(let version)? = entries["NSPersistenceFrameworkVersion"] {
      frameworkVersion = version
    }
    if case .array(let versions)? = entries["NSStoreModelVersionIdentifiers"] {
      for case .string(let version) in versions where !version.isEmpty {
        modelVersions.append(version)
      }
    }
    if case .dictionary(let hashes)? = entries["NSStoreModelVersionHashes"] {
      for case (let entity, .data(let hash)) in hashes { entityHashes[entity] = hash }
    }
  }
}
