/// The nodes of one branch or leaf page, read without trusting any number in it.
struct PageNodes {
  struct Node {
    var flags: UInt16
    /// The range of the key within the page.
    var key: Range<Int>
    /// The range of the value within the page, or of the number of its overflow page.
    var payload: Range<Int>
    /// The size of the value itself.
    var valueCount: Int
    /// The number of the child page; used in a branch page only.
    var child: UInt64
  }

  private(set) var nodes: [Node] = []

  struct Flaw: Error { let text: String }

  /// - Throws: the first flaw in the order of the page: lower and upper bound, node offsets, node
  ///   sizes, keys. Nodes must be adjacent from the upper bound to the end of the page, because
  ///   LMDB moves them on that assumption.
  init(_ page: UnsafeRawBufferPointer, isLeaf: Bool) throws(Flaw) {
    let lower = Int(page.loadUnaligned(fromByteOffset: 12, as: UInt16.self))
    let upper = Int(page.loadUnaligned(fromByteOffset: 14, as: UInt16.self))
    guard lower >= PageFormat.headerCount, lower <= upper, upper <= page.count, lower % 2 == 0
    else { throw Flaw(text: "the bounds \(lower) and \(upper) are not those of a page") }
    var extents: [Range<Int>] = []
    for place in stride(from: PageFormat.headerCount, to: lower, by: 2) {
      let offset = Int(page.loadUnaligned(fromByteOffset: place, as: UInt16.self))
      guard offset >= upper, offset + PageFormat.nodeHeaderCount <= page.count else {
        throw Flaw(text: "a node lies outside of the page")
      }
      let node = Self.node(page, at: offset, isLeaf: isLeaf)
      let end = (node.payload.upperBound + 1) & ~1
      guard end <= page.count else { throw Flaw(text: "a node reaches beyond the page") }
      try Self.check(node, isFirst: nodes.isEmpty, isLeaf: isLeaf)
      nodes.append(node)
      extents.append(offset..<end)
    }
    try Self.checkAdjacent(extents, from: upper, to: page.count)
  }

  private static func node(
    _ page: UnsafeRawBufferPointer, at offset: Int, isLeaf: Bool
  ) -> Node {
    let low = page.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
    let flags = page.loadUnaligned(fromByteOffset: offset + 4, as: UInt16.self)
    let keyCount = Int(page.loadUnaligned(fromByteOffset: offset + 6, as: UInt16.self))
    let key = offset + PageFormat.nodeHeaderCount
    let keyEnd = key + keyCount
    let payloadCount =
      !isLeaf ? 0 : flags & PageFormat.NodeFlag.overflow != 0 ? 8 : Int(low)
    return Node(
      flags: isLeaf ? flags : 0, key: key..<keyEnd, payload: keyEnd..<(keyEnd + payloadCount),
      valueCount: Int(low), child: UInt64(low) | UInt64(flags) << 32)
  }

  private static func check(_ node: Node, isFirst: Bool, isLeaf: Bool) throws(Flaw) {
    // The first key of a branch page is not used and may be empty.
    guard node.key.count <= 511, !node.key.isEmpty || (isFirst && !isLeaf) else {
      throw Flaw(text: "a key has \(node.key.count) bytes")
    }
    let flagsKnown = PageFormat.NodeFlag.overflow | PageFormat.NodeFlag.tree
    guard node.flags & ~flagsKnown == 0, node.flags != flagsKnown else {
      throw Flaw(
        text: node.flags & PageFormat.NodeFlag.duplicates != 0
          ? "an entry has duplicate values, which this store never has"
          : "a node has unknown flags")
    }
  }

  private static func checkAdjacent(
    _ extents: [Range<Int>], from upper: Int, to end: Int
  ) throws(Flaw) {
    var place = upper
    for extent in extents.sorted(by: { $0.lowerBound < $1.lowerBound }) {
      guard extent.lowerBound == place else { throw Flaw(text: "nodes overlap or leave gaps") }
      place = extent.upperBound
    }
    guard place == end else { throw Flaw(text: "nodes overlap or leave gaps") }
  }
}
