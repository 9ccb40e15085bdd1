import EntityStore

/// A run: sorted keys in a scratch file, cut into blocks that can be read and checked by
/// themselves.
///
/// Numbers are little-endian. The header:
///
///      0   8  "MOORRUNS"
///      8   4  version, 1
///     12   4  bytes of a full block
///     16   8  keys
///     24   8  bytes of the file
///     32   8  XXH3 of the last block
///     40   8  XXH3 of the owner's name
///     48   8  number of the run
///     56   8  XXH3 of the 56 bytes before
///
/// Blocks follow, all of them full but the last:
///
///      0   8  XXH3 of all that follows in the block
///      8   8  that of the block before; of the first, XXH3 of the owner's name
///     16   4  bytes of entries; zeros fill what they leave of a full block
///     20      entries
///
/// Each block holds the hash of the one before, so that the hash of the last block covers the whole
/// file. An entry is a key without the prefix that it shares with the key before it in the block:
///
///         v   bytes shared; 0 in the first entry of a block
///         v   bytes that differ, at least 1
///             these bytes
///
/// `v` is a `Varint` of one byte, or two from 128 on.
enum KeyRunFormat {
  static let magic: UInt64 = 0x534E_5552_524F_4F4D
  static let version: UInt32 = 1
  static let headerBytes = 64
  static let blockHeaderBytes = 20
  /// The size of a full block. It is large enough that reading many runs in turns stays sequential,
  /// and small enough that the blocks of all runs of a merge take 4 MiB.
  static let blockBytes = 64 << 10
  /// The largest entry: two varints and a whole key.
  static let entryBytesMax = 4 + StoreLimits.keyBytesMax

  /// Offsets in a block.
  static let previousOffset = 8
  static let entriesCountOffset = 16

  static func header(of run: KeyRun, owner: Int64) -> [UInt8] {
    var bytes: [UInt8] = []
    func append<Number: FixedWidthInteger>(_ number: Number) {
      withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
    }
    append(magic)
    append(version)
    append(UInt32(blockBytes))
    append(Int64(run.keys))
    append(Int64(run.bytes))
    append(run.checksum)
    append(owner)
    append(Int64(run.number))
    append(bytes.withUnsafeBytes { ContentHash.of($0) })
    return bytes
  }

  /// Returns the hash that a block must begin with.
  static func hash(ofBlock block: UnsafeRawBufferPointer) -> Int64 {
    ContentHash.of(UnsafeRawBufferPointer(rebasing: block[previousOffset...]))
  }
}

/// The description of a run, which its file is checked against.
struct KeyRun: Codable, Equatable, Sendable {
  let number: Int
  let keys: Int
  /// The bytes of the file.
  let bytes: Int
  /// The XXH3 of the last block.
  let checksum: Int64
}
