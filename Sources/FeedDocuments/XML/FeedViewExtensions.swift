/// The elements of one item or of the feed that have no counterpart in JSON Feed, under their names
/// in the document.
///
/// `_rss`, `_atom`, `_itunes`, `_dc` and `_other` are flat: an element's text is under its name,
/// its attributes are under `name@attribute`, elements inside it under `name.child`. If a name
/// occurs twice, the first one wins. In `_other` names have their prefix: `slash:comments`.
/// `_media` and `_podcast` are trees: under each name an array of objects, with the attributes by
/// name, the text as `text`, and the elements inside in the same manner.
struct FeedViewExtensions {
  private var flat: [(member: String, json: JSONText, names: Set<String>)] = []
  private var trees: [(member: String, nodes: [Node])] = []
  private var bytesLeft = XMLLimits.extensionBytesMax

  struct Node {
    var name: String
    var attributes: [(name: String, value: String)] = []
    var text = ""
    var children: [Node] = []

    fileprivate var byteCount: Int {
      attributes.reduce(name.utf8.count + text.utf8.count + 8) {
        $0 + $1.name.utf8.count + $1.value.utf8.count + 8
      }
    }
  }

  mutating func set(_ name: String, _ value: String, in member: String) {
    guard !value.isEmpty, !contains(name, in: member), admit(name.utf8.count + value.utf8.count)
    else { return }
    update(member, name) { $0.string(name, value) }
  }

  mutating func set(_ name: String, seconds: Int, in member: String) {
    guard !contains(name, in: member) else { return }
    update(member, name) { $0.number(name, seconds) }
  }

  mutating func add(_ node: Node, to member: String) {
    if let index = trees.firstIndex(where: { $0.member == member }) {
      trees[index].nodes.append(node)
    } else {
      trees.append((member, [node]))
    }
  }

  /// Returns true if a node may still be kept, and counts its bytes then.
  mutating func admit(_ node: Node) -> Bool {
    admit(node.byteCount)
  }

  private mutating func admit(_ count: Int) -> Bool {
    guard count <= min(bytesLeft, XMLLimits.extensionValueBytesMax) else { return false }
    bytesLeft -= count + 8
    return true
  }

  private func contains(_ name: String, in member: String) -> Bool {
    flat.contains { $0.member == member && $0.names.contains(name) }
  }

  private mutating func update(
    _ member: String, _ name: String, _ body: (inout JSONText) -> Void
  ) {
    let index = flat.firstIndex { $0.member == member } ?? flat.count
    if index == flat.count { flat.append((member, JSONText(), [])) }
    flat[index].names.insert(name)
    body(&flat[index].json)
  }

  // MARK: JSON

  func write(to json: inout JSONText) {
    for entry in flat {
      json.object(entry.member) { $0.append(entry.json.bytes) }
    }
    for tree in trees {
      json.object(tree.member) { Self.write(tree.nodes, to: &$0) }
    }
  }

  private static func write(_ nodes: [Node], to json: inout JSONText) {
    var names: [String] = []
    for node in nodes where !names.contains(node.name) { names.append(node.name) }
    for name in names {
      json.array(name) { json in
        for node in nodes where node.name == name {
          json.object { json in
            for attribute in node.attributes { json.string(attribute.name, attribute.value) }
            if !node.text.isEmpty { json.string("text", node.text) }
            write(node.children, to: &json)
          }
        }
      }
    }
  }
}
