import EntityModel
import FeedDocuments

/// The contents of a document, inspected without a mapping. It does not refer to the document's
/// memory.
struct DocumentInspection {
  var format: FeedFormat
  /// The encoding of the text.
  var encoding = "UTF-8"
  var isComplete = true
  let facts: DocumentFacts

  /// - Parameter linkHeader: The values of the answer's Link headers.
  /// - Throws: `unknownFormat` and others for a document that is neither a feed nor JSON.
  init(
    _ bytes: UnsafeRawBufferPointer, _ source: DocumentSource, linkHeader: [String]
  ) throws(DocumentError) {
    do throws(DocumentError) {
      let parser = try JSONParser()
      if DocumentGuess(bytes) == .xml {
        let view = try FeedView.read(bytes, contentType: source.contentType, baseURL: source.url)
        (format, encoding, isComplete) = (view.format, view.encoding, view.isComplete)
        facts = try view.json.withUnsafeBytes { json throws(DocumentError) in
          try parser.withValue(json) { root throws(DocumentError) in
            DocumentFacts(root, itemsIn: "items", linkHeader)
          }
        }
      } else {
        (format, facts) = try parser.withValue(bytes) { root throws(DocumentError) in
          let format = FeedFormat(jsonRoot: root)
          let name: String? =
            switch format {
            case .jsonFeed: "items"
            case .homeFeed1: "entities"
            default: nil
            }
          return (format, DocumentFacts(root, itemsIn: name, linkHeader))
        }
      }
    } catch  where error.code != .outOfMemory && error.location.isEmpty {
      throw error.explained(by: bytes, contentType: source.contentType)
    }
  }
}

/// The values that are read from a document.
struct DocumentFacts {
  var title: String?
  var timeToLive: Int64?
  /// The JSONPath of the items; nil if nothing looks like items.
  var path: String?
  /// The JSONPaths of other arrays of objects.
  var otherPaths: [String] = []
  var items = 0
  var profile: ItemProfile?
  var paging: PagingGuess?

  private static let otherPathsMax = 4
  private static let titleCharacters = 200

  /// - Parameter name: The member with the items; nil to take the likeliest array.
  init(_ root: JSONValue, itemsIn name: String?, _ linkHeader: [String]) {
    title = (root["title"] ?? root["name"])?.string.map { String($0.prefix(Self.titleCharacters)) }
    timeToLive = root["_rss"]?["ttl"]?.int64 ?? root["ttl"]?.int64
    var place: ItemPlace?
    if let name {
      place = ItemPlace().member(name).step(.elements)
    } else {
      paging = PagingGuess(root, linkHeader: linkHeader)
      let candidates = ItemSearch.candidates(in: root)
      place = candidates.first?.place
      otherPaths = candidates.dropFirst().prefix(Self.otherPathsMax).map(\.path)
    }
    guard let place else { return }
    path = place.path
    let nodes = place.items(in: root)
    items = nodes.count
    profile = ItemProfile(nodes)
  }
}

extension FeedFormat {
  /// Reads the format that the document states; `json` if it states none that is known.
  fileprivate init(jsonRoot root: JSONValue) {
    if root["format"]?.hasText("homefeed/1") == true {
      self = .homeFeed1
    } else if FeedFormat.isJSONFeed(version: root["version"]?.string) {
      self = .jsonFeed
    } else {
      self = .json
    }
  }
}
