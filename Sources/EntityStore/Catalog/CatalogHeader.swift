import EntityModel
package import Foundation

/// The first thing read of a store, under the key `header` of the tree `catalog`.
///
///     offset  size  field
///          0     8  "MOORING", 00
///          8     4  format version, little-endian
///         12     4  incompatible feature bits: a program that does not know one must not open
///         16     4  read-compatible feature bits: … must not write
///         20    16  store UUID
///         36     8  schema revision, little-endian; grows with every change of the schema
package struct CatalogHeader: Equatable {
  static let magic: [UInt8] = Array("MOORING\0".utf8)
  static let currentFormat: UInt32 = 1
  static let size = 44
  /// The feature bit of a store with a structure that is being built for an entity: every writer of
  /// the entity must record its changes (see `EntityBuild`). It is set only during the build.
  package static let buildFeature: UInt32 = 1
  /// The feature bit of a store whose records, history and catalog have seals, which every writer
  /// must write (see `Seal`). It is set when the store is created or its records get seals.
  package static let sealFeature: UInt32 = 2
  /// The feature bit of a store with deferred indexes (see `DeferredIndexes`), which a program that
  /// does not know them would lose with its next migration.
  package static let deferralFeature: UInt32 = 4
  /// The feature bit of a store whose commits are ordered by a commit log: a program that does not
  /// know it would write what the other machines do not get. It is set while the store has a
  /// position in a log.
  package static let commitLogFeature: UInt32 = 8
  static let knownReadCompatibleFeatures =
    buildFeature | sealFeature | deferralFeature | commitLogFeature

  var format: UInt32 = CatalogHeader.currentFormat
  var incompatibleFeatures: UInt32 = 0
  package var readCompatibleFeatures: UInt32 = 0
  package var uuid: UUID
  package var revision: UInt64
}

extension CatalogHeader {
  package func encoded() -> [UInt8] {
    var bytes = CatalogHeader.magic
    func append<T: FixedWidthInteger>(_ number: T) {
      withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
    }
    append(format)
    append(incompatibleFeatures)
    append(readCompatibleFeatures)
    withUnsafeBytes(of: uuid.uuid) { bytes.append(contentsOf: $0) }
    append(revision)
    return bytes
  }

  /// Decodes a header.
  ///
  /// - Throws: `notAStore`, or `newerFormat` that names the formats this program can read.
  init(decoding bytes: UnsafeRawBufferPointer) throws(StoreError) {
    guard bytes.count >= CatalogHeader.size, bytes.prefix(8).elementsEqual(CatalogHeader.magic)
    else {
      throw StoreError(
        .notAStore, "the catalog has no Mooring header",
        advice: "this is another program's LMDB folder, or a damaged store")
    }
    func load<T: FixedWidthInteger>(_ offset: Int, _: T.Type) -> T {
      T(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: T.self))
    }
    format = load(8, UInt32.self)
    incompatibleFeatures = load(12, UInt32.self)
    readCompatibleFeatures = load(16, UInt32.self)
    uuid = UUID(uuid: bytes.loadUnaligned(fromByteOffset: 20, as: uuid_t.self))
    revision = load(36, UInt64.self)
    if format > CatalogHeader.currentFormat || incompatibleFeatures != 0 {
      throw StoreError(
        .newerFormat, "the store was written by a newer version of this program",
        [
          ("store format", String(format)),
          ("this program reads", "1 to \(CatalogHeader.currentFormat)"),
          ("unknown features", String(incompatibleFeatures, radix: 16)),
        ], advice: "install the newer version")
    }
  }

  /// Decodes only the fields that change: called once per transaction.
  @inline(__always)
  static func revision(in bytes: UnsafeRawBufferPointer) -> UInt64? {
    guard bytes.count >= size else { return nil }
    return UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 36, as: UInt64.self))
  }
}
