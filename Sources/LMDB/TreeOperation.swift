import SystemSupport

/// The operations of an entry of the commit log, one after the other. Numbers are little-endian.
///
///     offset
///     0        4   "MTOP"
///     4        1   version, 1
///     then for each operation
///     0        1   kind
///     1        2   the number of the tree: names are numbered from 0 in the order of their `name`
///     then, of a kind with a key
///              2   size of the key
///                  key
///     then, of a kind with a value
///              4   size of the value
///                  value
///
/// A part ends between two operations; only the first part of an entry has the first five bytes.
/// The name of a tree counts for the whole entry, from its part on.
enum TreeOperation: UInt8 {
  /// Numbers a tree; the key is its name.
  case name = 1
  /// Creates a tree.
  case create = 2
  /// Creates a tree with integer keys.
  case createWithIntegerKeys = 3
  /// Sets the value of a key.
  case put = 4
  /// Adds an entry whose key is greater than every other.
  case append = 5
  /// Removes a key, which exists.
  case delete = 6
  /// Removes all entries of a tree.
  case empty = 7
  /// Removes all entries of a tree, and its name after the commit.
  case drop = 8

  static let header: [UInt8] = Array("MTOP".utf8) + [1]

  var hasKey: Bool {
    switch self {
    case .name, .put, .append, .delete: true
    case .create, .createWithIntegerKeys, .empty, .drop: false
    }
  }

  var hasValue: Bool { self == .put || self == .append }
}

/// Reads the operations of the parts of an entry. The bytes may be any.
struct OperationReader {
  struct Operation {
    let kind: TreeOperation
    let tree: Int
    let key: UnsafeRawBufferPointer
    let value: UnsafeRawBufferPointer
  }

  private var rest: UnsafeRawBufferPointer.SubSequence

  /// - Parameter isFirst: True for the first part of an entry.
  init(_ part: UnsafeRawBufferPointer, isFirst: Bool) throws(StorageError) {
    rest = part[...]
    guard isFirst else { return }
    guard rest.starts(with: TreeOperation.header) else { throw Self.unreadable }
    rest = rest.dropFirst(TreeOperation.header.count)
  }

  /// Returns the next operation; `nil` at the end.
  ///
  /// - Throws: `StorageError` with `.damaged`.
  mutating func next() throws(StorageError) -> Operation? {
    if rest.isEmpty { return nil }
    guard let kind = TreeOperation(rawValue: try number(UInt8.self)) else {
      throw Self.unreadable
    }
    let tree = Int(try number(UInt16.self))
    let key = kind.hasKey ? try bytes(count: Int(try number(UInt16.self))) : rest.prefix(0)
    guard !kind.hasKey || (1...511).contains(key.count) else { throw Self.unreadable }
    let value = kind.hasValue ? try bytes(count: Int(try number(UInt32.self))) : rest.prefix(0)
    return Operation(
      kind: kind, tree: tree, key: UnsafeRawBufferPointer(rebasing: key),
      value: UnsafeRawBufferPointer(rebasing: value))
  }

  private mutating func number<N: FixedWidthInteger & BitwiseCopyable>(
    _ type: N.Type
  ) throws(StorageError) -> N {
    let bytes = UnsafeRawBufferPointer(rebasing: try bytes(count: MemoryLayout<N>.size))
    return N(littleEndian: bytes.loadUnaligned(as: N.self))
  }

  private mutating func bytes(
    count: Int
  ) throws(StorageError) -> UnsafeRawBufferPointer.SubSequence {
    guard rest.count >= count else { throw Self.unreadable }
    defer { rest = rest.dropFirst(count) }
    return rest.prefix(count)
  }

  static let unreadable = StorageError(
    .damaged, "an entry of the commit log cannot be read",
    advice: "update this program, or join the store to its hub again")
}
