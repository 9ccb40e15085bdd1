import EntityModel
import FeedDocuments
import TextFormats

/// Finds the place of a document that is most likely to contain its items: objects with members
/// such as an id and a title, under a name such as `results`, close to the root. They are the
/// elements of an array, of the arrays inside of an array, or the values of an object whose names
/// are ids.
struct ItemSearch {
  struct Candidate {
    let place: ItemPlace
    let score: Int

    var path: String { place.path }
  }

  private static let depthMax = 6
  private static let membersMax = 20_000
  private static let nameBytesMax = 200
  /// The number of elements that are inspected to see whether a container has objects.
  private static let elementsInspectedMax = 20
  private static let namesInspectedMax = 200
  private static let keyLengthMin = 16
  private static let itemNames: Set<String> = [
    "items", "entries", "results", "data", "records", "list", "posts", "articles", "episodes",
    "videos", "stories", "talks", "news", "documents", "docs", "rows", "elements", "objects",
    "edges", "features", "hits", "value", "children", "chapters", "events",
  ]

  private var candidates: [Candidate] = []
  private var visited = 0

  /// Returns the places of objects, the likeliest first; equal ones in document order. Empty arrays
  /// come last, and only those with a name that is usual for items.
  static func candidates(in root: JSONValue) -> [Candidate] {
    var search = ItemSearch()
    search.visit(root, ItemPlace(), penalty: 0)
    // The sort is stable.
    return search.candidates.sorted { $0.score > $1.score }
  }

  /// - Parameter penalty: What makes the items of a place less likely, because it is inside of
  ///   other items.
  private mutating func visit(_ value: JSONValue, _ place: ItemPlace, penalty: Int) {
    guard place.steps.count < Self.depthMax else { return }
    if value.kind == .array { return visit(array: value, place, penalty) }
    guard value.kind == .object else { return }
    if place.isOutside { weigh(keyed: value, place) }
    for (name, member) in value.members {
      visited += 1
      guard visited <= Self.membersMax else { return }
      guard member.kind == .array || member.kind == .object,
        name.textBytes.count <= Self.nameBytesMax
      else { continue }
      visit(member, place.member(name.text), penalty: penalty)
    }
  }

  private mutating func visit(array: JSONValue, _ place: ItemPlace, _ penalty: Int) {
    let elements = Array(array.elements.prefix(Self.elementsInspectedMax))
    let likeness = weigh(array, elements, place, penalty)
    guard let first = elements.first, place.isOutside else { return }
    // Items with an id or a title of their own are rather what is wanted than what they contain.
    let isItem = likeness.map { $0.hasID || $0.hasTitle } ?? false
    visit(first, place.step(.elements), penalty: isItem ? 12 : 3)
  }

  /// The names that the inspected objects of a place have.
  private struct Likeness {
    var hasID = false
    var hasTitle = false
    var score = 0

    init(_ objects: [JSONValue]) {
      var names: Set<String> = []
      for object in objects {
        for (name, _) in object.members.prefix(ItemSearch.namesInspectedMax)
        where name.textBytes.count <= ItemSearch.nameBytesMax {
          names.insert(name.text.lowercased())
        }
      }
      func has(_ usual: Set<String>) -> Bool { !names.isDisjoint(with: usual) }
      hasID = has(["id", "_id", "@id", "ids", "guid", "uuid", "sys", "slug", "key"])
      hasTitle = has(["title", "name", "headline", "snippet", "fields", "properties", "node"])
      if hasID { score += 6 }
      if hasTitle { score += 4 }
      if has(["url", "link", "href", "permalink", "published", "date"]) { score += 2 }
    }
  }

  private mutating func weigh(
    _ array: JSONValue, _ elements: [JSONValue], _ place: ItemPlace, _ penalty: Int
  ) -> Likeness? {
    let hasName = place.isNamed(Self.itemNames)
    if elements.isEmpty {
      if hasName, place.isOutside {
        candidates.append(Candidate(place: place.step(.elements), score: -1_000))
      }
      return nil
    }
    let objects = elements.filter { $0.kind == .object }
    guard objects.count * 2 > elements.count else { return nil }
    let likeness = Likeness(objects)
    let score = likeness.score + place.score(of: array.count, hasName) - penalty
    if place.isOutside || likeness.hasID || likeness.hasTitle {
      candidates.append(Candidate(place: place.step(.elements), score: score))
    }
    return likeness
  }

  /// Weighs an object as a list of items under their ids. Its values must be alike, and its names
  /// must look like ids unless there is other evidence.
  private mutating func weigh(keyed object: JSONValue, _ place: ItemPlace) {
    let members = Array(object.members.prefix(Self.elementsInspectedMax))
    let values = members.map(\.value)
    guard values.count > 1, values.allSatisfy({ $0.kind == .object }) else { return }
    let names = values.map { value in
      Set(value.members.prefix(Self.namesInspectedMax).map(\.name.text))
    }
    let shared = names.dropFirst().reduce(names[0]) { $0.intersection($1) }
    guard let most = names.map(\.count).max(), most > 0, shared.count * 2 >= most else { return }
    let likeness = Likeness(values)
    let hasName = place.isNamed(Self.itemNames) && !place.steps.isEmpty
    let keys = members.count { member in
      let bytes = member.name.textBytes
      return bytes.count >= Self.keyLengthMin
        || bytes.contains { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }
    let isLikely = likeness.hasID || likeness.hasTitle
    guard hasName || keys * 2 > members.count || isLikely && object.count >= 5 else { return }
    let score = likeness.score + place.score(of: object.count, hasName) - 4
    candidates.append(Candidate(place: place.step(.values), score: score))
  }
}

/// The place of items in a document.
struct ItemPlace {
  enum Step {
    case member(String)
    /// All elements of an array.
    case elements
    /// All values of an object.
    case values
  }

  private(set) var steps: [Step] = []

  func step(_ step: Step) -> ItemPlace { ItemPlace(steps: steps + [step]) }

  func member(_ name: String) -> ItemPlace { step(.member(name)) }

  /// True if the place is not inside of other items.
  fileprivate var isOutside: Bool {
    steps.allSatisfy { if case .member = $0 { true } else { false } }
  }

  /// Returns true if the last member has one of these names. An array at the root has the best one.
  fileprivate func isNamed(_ names: Set<String>) -> Bool {
    guard let last = steps.last else { return true }
    if case .member(let name) = last { return names.contains(name.lowercased()) }
    return false
  }

  fileprivate func score(of count: Int, _ hasName: Bool) -> Int {
    let names = steps.count { if case .member = $0 { true } else { false } }
    let few = min(count, 64)
    return (hasName ? 8 : 0) - 3 * max(0, names - 1) + few.bitWidth - few.leadingZeroBitCount
  }

  /// The JSONPath of the items.
  var path: String {
    steps.reduce("$") { path, step in
      switch step {
      case .member(let name): path + Self.selector(name)
      case .elements: path + "[*]"
      case .values: path + ".*"
      }
    }
  }

  /// Returns the selector of a name, in short form if possible (RFC 9535, section 2.5.1).
  static func selector(_ name: String) -> String {
    if name.wholeMatch(of: /[A-Za-z_][A-Za-z0-9_]*/) != nil { return "." + name }
    return "['" + name.escaping("\\", as: "\\\\").escaping("'", as: "\\'") + "']"
  }

  func items(in root: JSONValue) -> [JSONValue] {
    steps.reduce([root]) { nodes, step in
      switch step {
      case .member(let name): nodes.compactMap { JSONPointer(tokens: [name]).value(in: $0) }
      case .elements: nodes.flatMap { Array($0.elements) }
      case .values: nodes.flatMap { $0.members.map(\.value) }
      }
    }
  }
}
