package import EntityModel
package import LMDB

/// The structures that a migration step builds for one entity while others read and write it.
///
/// It is stored in the catalog, so that every process that writes to the entity takes part: it
/// records in side logs which records it changes, and which keys these changes add to and remove
/// from the indexes that are being built. The builder processes the side logs until they are empty,
/// and in that same transaction adds the finished structures to the entity.
///
/// The records of such an entity may have attributes that are not visible yet: their names begin
/// with `_new_`.
package struct EntityBuild: Codable, Hashable, Sendable {
  package let entityID: Int
  /// True if writers record the ids of changed records: the values that are built from each must be
  /// computed again.
  package var recordsChangedIDs = false
  /// The indexes that are being filled.
  package var indexes: [IndexDescription] = []

  package init(entityID: Int, recordsChangedIDs: Bool = false, indexes: [IndexDescription] = []) {
    self.entityID = entityID
    self.recordsChangedIDs = recordsChangedIDs
    self.indexes = indexes
  }

  /// The name of the side log of changed ids: a tree with the same keys as the records, without
  /// values.
  package var recordSideLog: String { "n.\(entityID)" }

  /// Returns the name of the side log of an index: the tree of the changes to its entries.
  ///
  ///     key    the entry's key, then the record id if the index is unique
  ///     value  1 byte: 1 the record has got the entry, 0 it has lost it
  package static func sideLog(of index: IndexDescription) -> String {
    "n.i.\(index.id).\(index.generation)"
  }

  package var treeNames: [String] {
    (recordsChangedIDs ? [recordSideLog] : [])
      + indexes.flatMap { [EntityLayout.treeName(of: $0), Self.sideLog(of: $0)] }
  }

  /// The names as catalogs store them.
  private enum CodingKeys: String, CodingKey {
    case entityID, indexes
    case recordsChangedIDs = "notesRecords"
  }

  private static let hiddenPrefix = "_new_"

  package static func hiddenName(of attribute: AttributeDescription) -> String {
    "\(hiddenPrefix)\(attribute.id)_\(attribute.name)"
  }

  package static func isHiddenName(_ name: String) -> Bool { name.hasPrefix(hiddenPrefix) }
}

/// A build, bound to the trees of an entity.
package struct BuildLayout: Sendable {
  /// The side log of changed ids; `nil` if they are not recorded.
  package let recordSideLog: Tree?
  package let indexes: [(index: IndexLayout, sideLog: Tree)]

  /// Binds a build to its trees.
  ///
  /// - Throws: `damaged` if a tree is missing.
  init(
    _ build: EntityBuild, of entity: EntityDescription, trees: [String: Tree]
  ) throws(StoreError) {
    func tree(_ name: String) throws(StoreError) -> Tree {
      guard let tree = trees[name] else {
        throw .damaged("a build of the catalog has no tree", entity: entity.name)
      }
      return tree
    }
    recordSideLog = build.recordsChangedIDs ? try tree(build.recordSideLog) : nil
    var indexes: [(index: IndexLayout, sideLog: Tree)] = []
    for index in build.indexes {
      indexes.append(
        (
          try IndexLayout(
            index, of: entity, tree: try tree(EntityLayout.treeName(of: index)),
            number: indexes.count),
          try tree(EntityBuild.sideLog(of: index))
        ))
    }
    self.indexes = indexes
  }
}
