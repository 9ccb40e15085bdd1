package import EntityModel
package import LMDB

/// What a migration step is making of one entity while others go on reading and writing it.
///
/// It stands in the catalog, so that every process that writes to the entity does its part: it
/// notes which records it changes, and which keys that adds to the indexes under construction and
/// takes from them. Who builds looks at the notes until there are none, and in that same
/// transaction makes what it has built the entity's.
///
/// The records of an entity under construction may have attributes that nobody sees yet: their
/// names begin with `_new_`.
package struct EntityBuild: Codable, Hashable, Sendable {
  package let entityID: Int
  /// Whether changed records are noted: what is built of each must be made anew.
  package var notesRecords = false
  /// Indexes that are being filled.
  package var indexes: [IndexDescription] = []

  package init(entityID: Int, notesRecords: Bool = false, indexes: [IndexDescription] = []) {
    self.entityID = entityID
    self.notesRecords = notesRecords
    self.indexes = indexes
  }

  /// The tree of the numbers of changed records: keys as those of the records, without values.
  package var recordNotes: String { "n.\(entityID)" }

  /// The tree of changes to an index.
  ///
  ///     key    the entry's key, then the object id if the index is unique
  ///     value  1 byte: 1 the record has got the entry, 0 it has lost it
  package static func notes(of index: IndexDescription) -> String {
    "n.i.\(index.id).\(index.generation)"
  }

  package var treeNames: [String] {
    (notesRecords ? [recordNotes] : [])
      + indexes.flatMap { [EntityLayout.treeName(of: $0), Self.notes(of: $0)] }
  }

  private static let hiddenPrefix = "_new_"

  package static func hiddenName(of attribute: AttributeDescription) -> String {
    "\(hiddenPrefix)\(attribute.id)_\(attribute.name)"
  }

  package static func isHiddenName(_ name: String) -> Bool { name.hasPrefix(hiddenPrefix) }
}

/// A build, bound to the trees of an entity.
package struct BuildLayout: Sendable {
  /// `nil` if changed records are not noted.
  package let recordNotes: Tree?
  package let indexes: [(index: IndexLayout, notes: Tree)]

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
    recordNotes = build.notesRecords ? try tree(build.recordNotes) : nil
    var indexes: [(index: IndexLayout, notes: Tree)] = []
    for index in build.indexes {
      indexes.append(
        (
          try IndexLayout(
            index, of: entity, tree: try tree(EntityLayout.treeName(of: index)),
            number: indexes.count),
          try tree(EntityBuild.notes(of: index))
        ))
    }
    self.indexes = indexes
  }
}
