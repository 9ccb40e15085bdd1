import Glibc

/// The page format of LMDB 0.9 data files on a 64-bit little-endian machine, as far as it is read
/// here. All numbers are in the byte order of the machine.
///
/// Page header, 16 bytes:
///
///     offset  size  field
///          0     8  page number
///          8     2  padding
///         10     2  kind: 1 branch, 2 leaf, 4 overflow, 8 meta
///         12     2  lower: end of the node offsets         (overflow: 4 bytes, number of pages)
///         14     2  upper: begin of the nodes
///
/// Meta page, after the header (pages 0 and 1; the greater transaction id counts):
///
///         16     4  magic 0xBEEFC0DE
///         20     4  version 1
///         24     8  map address
///         32     8  map size
///         40    48  record of the free list tree; its first field is the page size
///         88    48  record of the main tree
///        136     8  last page number
///        144     8  transaction id
///
/// Tree record, 48 bytes:
///
///          0     4  padding
///          4     2  flags
///          6     2  depth
///          8     8  branch pages
///         16     8  leaf pages
///         24     8  overflow pages
///         32     8  entries
///         40     8  root page, all ones for an empty tree
///
/// Node, at each of the 2-byte offsets that follow the header, in key order:
///
///          0     4  leaf: value size; branch: low 32 bits of the child page
///          4     2  leaf: flags, 1 value in overflow pages, 2 tree record, 4 duplicates;
///                   branch: high 16 bits of the child page
///          6     2  key size
///          8     n  key
///        8+n        value, or the 8-byte number of its first overflow page
enum PageFormat {
  static let headerCount = 16
  static let metaCount = 152
  static let treeRecordCount = 48
  static let nodeHeaderCount = 8
  static let magic: UInt32 = 0xBEEF_C0DE
  static let version: UInt32 = 1
  static let noPage = UInt64.max
  static let pageSizes = [512, 1024, 2048, 4096, 8192, 16384, 32768]
  /// The greatest depth of a tree that LMDB supports (CURSOR_STACK).
  static let depthMax = 32

  enum Kind {
    static let branch: UInt16 = 1
    static let leaf: UInt16 = 2
    static let overflow: UInt16 = 4
    static let meta: UInt16 = 8
  }

  enum TreeFlag {
    static let integerKeys: UInt16 = 0x08
    /// All flags that change the order of keys or the number of entries of a key.
    static let orders: UInt16 = 0x7e
  }

  enum NodeFlag {
    static let overflow: UInt16 = 1
    static let tree: UInt16 = 2
    static let duplicates: UInt16 = 4
  }
}

/// The record of one tree.
struct TreeRecord {
  var pageSize: UInt32
  var flags: UInt16
  var depth: UInt16
  var branchPages: UInt64
  var leafPages: UInt64
  var overflowPages: UInt64
  var entries: UInt64
  var root: UInt64

  /// - Precondition: `bytes` has 48 bytes.
  init(_ bytes: UnsafeRawBufferPointer) {
    pageSize = bytes.loadUnaligned(fromByteOffset: 0, as: UInt32.self)
    flags = bytes.loadUnaligned(fromByteOffset: 4, as: UInt16.self)
    depth = bytes.loadUnaligned(fromByteOffset: 6, as: UInt16.self)
    branchPages = bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
    leafPages = bytes.loadUnaligned(fromByteOffset: 16, as: UInt64.self)
    overflowPages = bytes.loadUnaligned(fromByteOffset: 24, as: UInt64.self)
    entries = bytes.loadUnaligned(fromByteOffset: 32, as: UInt64.self)
    root = bytes.loadUnaligned(fromByteOffset: 40, as: UInt64.self)
  }
}

/// One of the two pages that begin the file and lead to all trees of a commit.
struct MetaPage {
  var freeList: TreeRecord
  var main: TreeRecord
  var lastPage: UInt64
  var transaction: UInt64

  enum Flaw: Error { case noMagic, otherVersion, scribbled }

  /// - Precondition: `bytes` has at least `PageFormat.metaCount` bytes.
  init(_ bytes: UnsafeRawBufferPointer) throws(Flaw) {
    guard bytes.loadUnaligned(fromByteOffset: 16, as: UInt32.self) == PageFormat.magic else {
      throw .noMagic
    }
    guard bytes.loadUnaligned(fromByteOffset: 20, as: UInt32.self) == PageFormat.version else {
      throw .otherVersion
    }
    freeList = TreeRecord(UnsafeRawBufferPointer(rebasing: bytes[40..<88]))
    main = TreeRecord(UnsafeRawBufferPointer(rebasing: bytes[88..<136]))
    lastPage = bytes.loadUnaligned(fromByteOffset: 136, as: UInt64.self)
    transaction = bytes.loadUnaligned(fromByteOffset: 144, as: UInt64.self)
    let kind = bytes.loadUnaligned(fromByteOffset: 10, as: UInt16.self)
    guard kind & PageFormat.Kind.meta != 0, PageFormat.pageSizes.contains(pageSize),
      lastPage >= 1, lastPage < 1 << 47, hasRoot(freeList), hasRoot(main)
    else { throw .scribbled }
  }

  var pageSize: Int { Int(freeList.pageSize) }

  /// True if it is as LMDB creates it, before any commit.
  var isFirst: Bool {
    transaction == 0 && lastPage == 1 && freeList.root == PageFormat.noPage
      && main.root == PageFormat.noPage
  }

  private func hasRoot(_ tree: TreeRecord) -> Bool {
    tree.root == PageFormat.noPage
      ? tree.depth == 0
      : (2...lastPage).contains(tree.root) && (1...PageFormat.depthMax).contains(Int(tree.depth))
  }
}
