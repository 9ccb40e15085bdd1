import FeedDocuments

/// The statistics of the items of a document, by member.
///
/// They cover all items. Time and memory are linear in the size of the document: a member is found
/// by its place in the item before, and each text or number adds 12 bytes.
struct ItemProfile {
  private(set) var members: [MemberProfile] = []
  /// The number of inspected items. One that is listed again byte by byte is left out.
  private(set) var items = 0
  /// The number of items that were left out because they are listed again.
  private(set) var repeated = 0
  /// True if there are more members than listed.
  private(set) var hasMore = false
  private var names = NameTree()
  /// The members by the nodes of their names.
  private var positions: [Int: Int] = [:]

  private static let depthMax = 5
  private static let nameBytesMax = 200

  init(_ elements: some Sequence<JSONValue>) {
    var seen: Set<Int> = []
    for item in elements where item.kind == .object {
      var hasher = Hasher()
      hasher.combine(bytes: item.textBytes)
      guard seen.insert(hasher.finalize()).inserted else {
        repeated += 1
        continue
      }
      items += 1
      addMembers(of: item, at: NameTree.root, depth: 0)
    }
    for place in members.indices { members[place].countDifferent() }
  }

  private mutating func addMembers(of object: JSONValue, at parent: Int, depth: Int) {
    var hint = 0
    for (name, value) in object.members {
      guard name.textBytes.count <= Self.nameBytesMax,
        let node = names.child(of: parent, named: name.textBytes, hint: &hint)
      else {
        hasMore = true
        continue
      }
      add(value, at: node, depth: depth + 1)
    }
  }

  private mutating func add(_ value: JSONValue, at node: Int, depth: Int) {
    if value.kind != .object { note(value, at: node) }
    guard depth < Self.depthMax else { return }
    if value.kind == .object { return addMembers(of: value, at: node, depth: depth) }
    // The first object stands for all objects of a list.
    var elements = value.elements
    guard let first = elements.next(), first.kind == .object else { return }
    guard let element = names.element(of: node) else { return hasMore = true }
    addMembers(of: first, at: element, depth: depth + 1)
  }

  private mutating func note(_ value: JSONValue, at node: Int) {
    let position = positions[node] ?? members.count
    if position == members.count {
      positions[node] = position
      members.append(MemberProfile(steps: names.steps(of: node)))
    }
    members[position].add(value, ofItem: items - 1)
  }
}
