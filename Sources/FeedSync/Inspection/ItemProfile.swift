import FeedDocuments

/// The statistics of the items of a document, by member.
struct ItemProfile {
  private(set) var members: [MemberProfile] = []
  /// The number of inspected items.
  private(set) var items = 0
  /// True if there are more members than listed.
  private(set) var hasMore = false
  private var positions: [String: Int] = [:]
  private var visited = 0

  private static let itemsMax = 2_000
  private static let membersMax = 200
  private static let depthMax = 5
  private static let nameBytesMax = 200
  private static let visitsMax = 500_000

  init(_ array: JSONValue) {
    for item in array.elements.prefix(Self.itemsMax) where item.kind == .object {
      items += 1
      add(item, [])
    }
  }

  private mutating func add(_ object: JSONValue, _ tokens: [String]) {
    for (name, value) in object.members {
      visited += 1
      guard visited <= Self.visitsMax, name.textBytes.count <= Self.nameBytesMax else {
        hasMore = true
        return
      }
      add(value, at: tokens + [name.text])
    }
  }

  private mutating func add(_ value: JSONValue, at tokens: [String]) {
    if value.kind != .object { note(value, tokens) }
    guard tokens.count < Self.depthMax else { return }
    switch value.kind {
    case .object: add(value, tokens)
    case .array:
      // The first object stands for all objects of a list.
      var elements = value.elements
      if let first = elements.next(), first.kind == .object { add(first, tokens + ["0"]) }
    default: break
    }
  }

  private mutating func note(_ value: JSONValue, _ tokens: [String]) {
    let key = tokens.joined(separator: "\0")
    if let position = positions[key] { return members[position].add(value) }
    guard members.count < Self.membersMax else {
      hasMore = true
      return
    }
    positions[key] = members.count
    members.append(MemberProfile(tokens: tokens))
    members[members.count - 1].add(value)
  }
}
