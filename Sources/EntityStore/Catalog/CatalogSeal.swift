import EntityModel
package import LMDB

/// The seal of the catalog: the hash of all its entries but the seal itself, the counters of record
/// ids, which change with ordinary writes, and what a program that knows no seals may have added
/// (see `CatalogTree.backupsKey`). It has a key of its own.
///
///     offset  size  field
///          0     8  XXH3 of the entries in the order of their keys, little-endian; for each entry:
///                   size of the key, 4 little-endian; key; size of the value, 4; value
package enum CatalogSeal {
  private static let key = Array("seal".utf8)

  /// Writes the seal of the catalog as it is now.
  package static func write(_ tree: Tree, in transaction: TreeWriter) throws {
    let hash = try hash(tree, in: transaction)
    try transaction.put(tree, key: key, value: withUnsafeBytes(of: hash.littleEndian, Array.init))
  }

  /// Checks the catalog before something in it is changed, so that no damage gets a seal.
  ///
  /// - Returns: True if the catalog has a seal.
  /// - Throws: `damaged`.
  static func check(_ tree: Tree, in transaction: TreeTransaction) throws -> Bool {
    if let flaw = try flaw(tree, in: transaction) {
      throw StoreError(
        .damaged, "the catalog is damaged", [("problem", flaw)],
        advice: "run `mooring check`, then restore a backup")
    }
    return try transaction.get(tree, key) != nil
  }

  /// Compares the catalog with its seal.
  ///
  /// - Returns: What is wrong; `nil` if nothing is, or if the catalog needs no seal.
  /// - Throws: `notAStore`, `newerFormat`, a storage failure.
  static func flaw(_ tree: Tree, in transaction: TreeTransaction) throws -> String? {
    let header = try StoredCatalog.readHeader(tree, in: transaction)
    let isSealed = header.readCompatibleFeatures & CatalogHeader.sealFeature != 0
    guard let stored = try transaction.get(tree, key).map(Array.init) else {
      return isSealed ? "the catalog has no seal" : nil
    }
    guard isSealed else { return "the catalog has a seal, and the store has none" }
    let hash = try hash(tree, in: transaction)
    return stored == withUnsafeBytes(of: hash.littleEndian, Array.init)
      ? nil : "the catalog does not match its seal"
  }

  private static func hash(_ tree: Tree, in transaction: TreeTransaction) throws -> Int64 {
    let counters = Array("next:".utf8)
    let ignored = CatalogTree.backupsKey(isSealed: false)
    var bytes: [UInt8] = []
    func append(_ part: UnsafeRawBufferPointer) {
      let count = UInt32(truncatingIfNeeded: part.count).littleEndian
      withUnsafeBytes(of: count) { bytes.append(contentsOf: $0) }
      bytes.append(contentsOf: part)
    }
    var cursor = try transaction.cursor(tree)
    var entry = try cursor.first()
    while let found = entry {
      if !found.key.elementsEqual(key), !found.key.elementsEqual(ignored),
        !found.key.starts(with: counters)
      {
        append(found.key)
        append(found.value)
      }
      entry = try cursor.next()
    }
    return bytes.withUnsafeBytes { ContentHash.of($0) }
  }
}

extension Schema {
  /// True if nothing is left to be sealed.
  var isFullySealed: Bool {
    isSealed && entities.allSatisfy { $0.seals?.isComplete != false }
  }
}
