import EntityModel
import FeedDocuments

/// Finds the array of a document that is most likely to contain its items: objects with members
/// such as an id and a title, under a name such as `results`, close to the root.
struct ItemSearch {
  struct Candidate {
    /// The names from the root to the array.
    let names: [String]
    let array: JSONValue
    let score: Int

    /// The JSONPath of its elements.
    var path: String { "$" + names.map(ItemSearch.selector).joined() + "[*]" }
  }

  /// Returns the selector of a name, in short form if possible (RFC 9535, section 2.5.1).
  static func selector(_ name: String) -> String {
    if name.wholeMatch(of: /[A-Za-z_][A-Za-z0-9_]*/) != nil { return "." + name }
    return "['" + name.replacing("\\", with: "\\\\").replacing("'", with: "\\'") + "']"
  }

  private static let depthMax = 6
  private static let membersMax = 20_000
  private static let nameBytesMax = 200
  /// The number of elements that are inspected to see whether an array contains objects.
  private static let elementsInspectedMax = 20
  private static let itemNames: Set<String> = [
    "items", "entries", "results", "data", "records", "list", "posts", "articles", "episodes",
    "videos", "stories", "talks", "news", "documents", "rows", "elements", "objects", "edges",
  ]

  private var candidates: [Candidate] = []
  private var visited = 0

  /// Returns the arrays of objects, the likeliest first; equal ones in document order. Empty arrays
  /// come last, and only those with a name that is usual for items.
  static func candidates(in root: JSONValue) -> [Candidate] {
    var search = ItemSearch()
    search.visit(root, [])
    // The sort is stable.
    return search.candidates.sorted { $0.score > $1.score }
  }

  private mutating func visit(_ value: JSONValue, _ names: [String]) {
    if value.kind == .array { return weigh(value, names) }
    guard value.kind == .object, names.count < Self.depthMax else { return }
    for (name, member) in value.members {
      visited += 1
      guard visited <= Self.membersMax else { return }
      guard member.kind == .array || member.kind == .object,
        name.textBytes.count <= Self.nameBytesMax
      else { continue }
      visit(member, names + [name.text])
    }
  }

  private mutating func weigh(_ array: JSONValue, _ names: [String]) {
    let first = Array(array.elements.prefix(Self.elementsInspectedMax))
    let objects = first.filter { $0.kind == .object }
    let name = names.last?.lowercased() ?? "items"
    let hasName = Self.itemNames.contains(name)
    if first.isEmpty {
      if hasName { candidates.append(Candidate(names: names, array: array, score: -1_000)) }
      return
    }
    guard let sample = objects.first, objects.count * 2 > first.count else { return }
    var score = hasName ? 8 : 0
    score -= 3 * max(0, names.count - 1)
    score += min(array.count, 64).bitWidth - min(array.count, 64).leadingZeroBitCount
    let members = Set(sample.members.prefix(200).map { $0.name.text.lowercased() })
    if !members.isDisjoint(with: ["id", "_id", "guid", "uuid", "sys", "slug", "key"]) {
      score += 6
    }
    if !members.isDisjoint(with: ["title", "name", "headline", "snippet", "fields"]) { score += 4 }
    if !members.isDisjoint(with: ["url", "link", "href", "permalink", "published", "date"]) {
      score += 2
    }
    candidates.append(Candidate(names: names, array: array, score: score))
  }
}
