import EntityModel
import LMDB

@testable import EntityStore

/// Every entry of the record and index trees of all but system entities, with its address in the
/// map. A page that a transaction changes moves, so equal addresses prove that no page was changed.
struct ContentTrees: Equatable {
  private struct Entry: Equatable {
    let tree: String
    let place: UInt
    let key: [UInt8]
    let value: [UInt8]
  }
  private var entries: [Entry] = []

  init(_ store: Store) throws {
    try store.read { transaction in
      for entity in transaction.schema.entities where !entity.isSystem {
        let layout = try transaction.layout(entity.name)
        for tree in [layout.tree] + layout.indexes.map(\.tree) {
          var cursor = try transaction.transaction.cursor(tree)
          while let entry = try cursor.next() {
            entries.append(
              Entry(
                tree: tree.name, place: UInt(bitPattern: entry.key.baseAddress),
                key: Array(entry.key), value: Array(entry.value)))
          }
        }
      }
    }
  }
}
