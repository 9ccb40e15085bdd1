import EntityModel
import FeedDocuments

/// A guess where the next page of a document is and where a later run may start, by the document
/// and its headers.
struct PagingGuess {
  /// The value of `next` in a mapping.
  private(set) var next: String?
  /// The value of `checkpoint` in a mapping.
  private(set) var checkpoint: String?
  /// The part that could be wrong.
  private(set) var unconfirmed: String?

  private var places: [Place] = []

  private struct Place {
    let tokens: [String]
    let value: JSONValue
    /// The last name in lower case with its words joined.
    let name: String
    var pointer: String { feedMappingScalar(JSONPointer(tokens: tokens).description) }
  }

  private static let depthMax = 3
  private static let placesMax = 500

  /// - Parameter linkHeader: The values of the answer's Link headers.
  init(_ root: JSONValue, linkHeader: [String]) {
    gather(root, [])
    next = url ?? token ?? page ?? offset
    if next == nil, LinkHeader.target(of: "next", in: linkHeader) != nil { next = "link" }
    let changes = ["nextsyncurl", "syncurl", "deltalink", "odatadeltalink", "deltaurl"]
    if let place = places.first(where: { changes.contains($0.name) && $0.value.kind == .string }) {
      checkpoint = "{ url: \(place.pointer) }"
    }
  }

  private mutating func gather(_ object: JSONValue, _ tokens: [String]) {
    for (name, value) in object.members {
      guard places.count < Self.placesMax, name.textBytes.count <= 200 else { return }
      let tokens = tokens + [name.text]
      let words = NameWords(name.text).joined
      switch value.kind {
      case .object where tokens.count < Self.depthMax: gather(value, tokens)
      case .object, .array: break
      default: places.append(Place(tokens: tokens, value: value, name: words))
      }
    }
  }

  /// The member with the next page's URL. One that is null on the last page is found by its name.
  private var url: String? {
    let names: Set = [
      "next", "nexturl", "nextlink", "nextpage", "nextpageurl", "nexthref", "odatanextlink",
    ]
    let place = places.first { place in
      let isLink = place.name == "href" && place.tokens.dropLast().last?.lowercased() == "next"
      guard names.contains(place.name) || isLink else { return false }
      return place.value.isNull || place.value.string.map(Self.isURL) ?? false
    }
    return place.map { "{ url: \($0.pointer) }" }
  }

  private static func isURL(_ text: String) -> Bool {
    ["http://", "https://", "/", "?", "./"].contains { text.hasPrefix($0) }
  }

  private var token: String? {
    mutating get {
      let parameters = [
        "nextpagetoken": "pageToken", "nexttoken": "nextToken", "nextcursor": "cursor",
        "cursor": "cursor", "next": "next", "nextpage": "page", "continuation": "continuation",
        "nextcontinuationtoken": "continuation-token", "continuationtoken": "continuationToken",
        "after": "after", "endcursor": "after",
      ]
      guard
        let place = places.first(where: { place in
          parameters[place.name] != nil && [.string, .int64].contains(place.value.kind)
        }), let parameter = parameters[place.name]
      else { return nil }
      if place.name != "nextpagetoken" {
        unconfirmed = "that the token of the next page is sent as \(parameter)"
      }
      return "{ token: \(place.pointer), param: \(parameter) }"
    }
  }

  private var page: String? {
    guard let page = number(["page", "currentpage", "pagenumber", "pageno"]),
      let pages = number(["totalpages", "pages", "pagecount", "lastpage", "numpages"])
    else { return nil }
    return "{ page: \(page.pointer), pages: \(pages.pointer), param: page }"
  }

  private var offset: String? {
    guard let offset = number(["skip", "offset", "start", "startindex"]),
      let limit = number(["limit", "perpage", "pagesize", "count", "itemsperpage"]),
      let total = number(["total", "totalcount", "totalresults", "totalitems"]),
      let name = offset.tokens.last
    else { return nil }
    return "{ offset: \(offset.pointer), limit: \(limit.pointer), total: \(total.pointer), "
      + "param: \(feedMappingScalar(name)) }"
  }

  private func number(_ names: [String]) -> Place? {
    places.first { names.contains($0.name) && $0.value.kind == .int64 }
  }
}
