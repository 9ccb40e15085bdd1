import FeedDocuments

/// The names of the members of items, as a tree in which a member is found without making a text of
/// its name.
struct NameTree {
  /// A name, or the first element of an array in place of one.
  private struct Node {
    let steps: [MemberStep]
    let name: [UInt8]?
    var children: [Int] = []
  }

  private struct Key: Hashable {
    let parent: Int
    let name: Int?
  }

  /// The node of the item itself.
  static let root = 0
  /// The maximum number of members of an item, and of members of their objects.
  private static let namesMax = 200
  private static let innerNamesMax = 200

  private var nodes = [Node(steps: [], name: nil)]
  private var places: [Key: Int] = [:]

  func steps(of node: Int) -> [MemberStep] { nodes[node].steps }

  /// Returns the node of a member, which is added if it is new; nil if there are too many. O(1) in
  /// the number of names.
  ///
  /// - Parameter hint: The place that the name probably has among its siblings, because items have
  ///   their members in the same order; then the place after it.
  mutating func child(
    of parent: Int, named name: UnsafeRawBufferPointer, hint: inout Int
  ) -> Int? {
    let siblings = nodes[parent].children
    if hint < siblings.count, let expected = nodes[siblings[hint]].name,
      expected.elementsEqual(name)
    {
      hint += 1
      return siblings[hint - 1]
    }
    var hasher = Hasher()
    hasher.combine(bytes: name)
    let key = Key(parent: parent, name: hasher.finalize())
    if let place = places[key] {
      hint = place + 1
      return siblings[place]
    }
    hint = siblings.count + 1
    return add(.member(String(decoding: name, as: UTF8.self)), Array(name), to: parent, key)
  }

  /// Returns the node of the first element of an array; nil if there are too many nodes.
  mutating func element(of parent: Int) -> Int? {
    let key = Key(parent: parent, name: nil)
    if let place = places[key] { return nodes[parent].children[place] }
    return add(.firstElement, nil, to: parent, key)
  }

  private mutating func add(
    _ step: MemberStep, _ name: [UInt8]?, to parent: Int, _ key: Key
  ) -> Int? {
    let siblings = nodes[parent].children
    let isInner = parent != Self.root
    let inner = nodes.count - 1 - nodes[Self.root].children.count
    guard isInner ? inner < Self.innerNamesMax : siblings.count < Self.namesMax else {
      return nil
    }
    places[key] = siblings.count
    nodes[parent].children.append(nodes.count)
    nodes.append(Node(steps: nodes[parent].steps + [step], name: name))
    return nodes.count - 1
  }
}

/// A step from an item to a member.
enum MemberStep: Hashable {
  case member(String)
  case firstElement

  /// The step in a JSON Pointer.
  var token: String {
    switch self {
    case .member(let name): name
    case .firstElement: "0"
    }
  }

  /// The step in a JSONPath.
  var selector: String {
    switch self {
    case .member(let name): ItemPlace.selector(name)
    case .firstElement: "[0]"
    }
  }
}
