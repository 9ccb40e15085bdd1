import Foundation

/// A feed in XML as one JSON document, so that one mapping language reads every format.
///
/// RSS 0.9x, 1.0, 1.1 and 2.0 and Atom 0.3 and 1.0 become the members of JSON Feed 1.1, with no
/// `version` member: `title`, `home_page_url`, `feed_url`, `next_url`, `description`, `icon`,
/// `language`, `authors`, `tags` and `items`; of an item `id`, `url`, `external_url`, `title`,
/// `summary`, `content_html` or `content_text`, `date_published`, `date_modified` (RFC 3339, UTC),
/// `authors`, `tags`, `image` and `attachments`. Nothing is invented: an item without guid or id
/// has no `id`. Texts keep their HTML; `_title_text` is the title without its markup, if it has
/// any.
///
/// Beyond JSON Feed: `_format`; `_links`, every link with its `rel` and `href`; the other elements
/// of the document in `_rss`, `_atom`, `_itunes`, `_podcast`, `_media`, `_dc` and `_other` (see
/// `FeedViewExtensions`); `_rss.ttl` in seconds; `_feed` with the members of RFC 5005 (`complete`,
/// `archive`, `next`, `prev_archive`); `_deleted`, the tombstones of RFC 6721 with `id` and `when`.
/// A document whose elements had to be repaired has neither `complete` nor `_deleted`.
package struct FeedView: Sendable {
  /// The view as JSON text.
  package let json: PaddedJSON
  package let format: FeedFormat
  /// False if the document was cut, or if not all of it could be read even after the repair. Then
  /// the absence of an item means nothing.
  package let isComplete: Bool
  package let itemCount: Int
  /// The number of items that were read although the document is ill-formed: all items, or 0.
  package let salvagedItems: Int
  /// The number of items that were cut by the end of the document and are left out.
  package let lostItems: Int
  /// The number of faults in the XML and in its encoding that were repaired.
  package let faults: Int
  /// The encoding of the document.
  package let encoding: String

  /// Reads a document in XML. O(length), in a few times the document's size of memory.
  ///
  /// Only entities of plain text are expanded, and nothing is fetched.
  ///
  /// - Parameters:
  ///   - bytes: The body, without transfer encoding and compression.
  ///   - contentType: The response's Content-Type, for its charset.
  ///   - baseURL: The document's URL, which relative URLs are resolved against.
  /// - Throws: `.unknownFormat` with what the document seems to be; `.empty`; `.tooLarge` and
  ///   `.tooDeep` for documents beyond `XMLLimits`; `.outOfMemory`.
  package static func read(
    _ bytes: UnsafeRawBufferPointer, contentType: String?, baseURL: String?
  ) throws(DocumentError) -> FeedView {
    guard !bytes.isEmpty else { throw DocumentError(.empty) }
    let base = baseURL ?? ""
    let (cleaned, encoding, encodingFaults) = try clean(bytes, contentType)
    var builder = FeedViewBuilder(base: base, documentBytes: bytes.count)
    if cleaned.output.isEmpty { throw DocumentError(.unknownFormat, detail: "found no element") }
    var faults = cleaned.faults + encodingFaults
    var isComplete = true, lost = 0
    switch try XMLReader.read(cleaned.output, recovering: false, into: &builder) {
    case .wellFormed: break
    case .stopped: throw builder.explainedFailure(cleaned.output)
    case .malformed:
      if let failure = builder.failure, failure.code == .unknownFormat {
        throw builder.explainedFailure(cleaned.output)
      }
      let repair = XMLRepair.repair(cleaned.output)
      faults += repair.faults
      builder = FeedViewBuilder(base: base, documentBytes: bytes.count)
      let outcome =
        repair.output.isEmpty
        ? .wellFormed
        : try XMLReader.read(repair.output, recovering: true, into: &builder)
      if outcome == .stopped || builder.format == nil {
        throw builder.explainedFailure(cleaned.output)
      }
      // The repair may have lost items or moved one of these marks to another element.
      builder.history.removeDeletions()
      isComplete = outcome == .wellFormed && !repair.isCut && !repair.losesItems
      if repair.isItemCut {
        builder.dropLastItem()
        lost = 1
      }
    }
    guard let format = builder.format, builder.failure == nil else {
      throw builder.explainedFailure(cleaned.output)
    }
    return FeedView(
      json: builder.document(), format: format, isComplete: isComplete,
      itemCount: builder.itemCount, salvagedItems: faults > 0 ? builder.itemCount : 0,
      lostItems: lost, faults: faults, encoding: encoding)
  }

  /// Returns the text for libxml2; the decoded text is released.
  private static func clean(
    _ bytes: UnsafeRawBufferPointer, _ contentType: String?
  ) throws(DocumentError) -> (XMLCleaner, encoding: String, faults: Int) {
    let text = try DecodedText(bytes, contentType: contentType)
    return (try XMLCleaner.clean(text.bytes), text.encoding, text.faults)
  }
}

extension FeedViewBuilder {
  /// Returns the whole view as JSON.
  fileprivate consuming func document() -> PaddedJSON {
    var json = JSONText()
    json.object { json in
      json.string("_format", format?.rawValue)
      if let seconds = schedule.seconds { feed.extensions.set("ttl", seconds: seconds, in: "_rss") }
      feed.writeFeed(to: &json)
      history.write(next: feed.link("next"), archive: feed.link("prev-archive"), to: &json)
      feed.extensions.write(to: &json)
      json.array("items") { $0.append(items.bytes) }
    }
    return PaddedJSON(json.bytes)
  }

  fileprivate func explainedFailure(_ text: [UInt8]) -> DocumentError {
    guard var failure else {
      return DocumentError(.unknownFormat, detail: "found no feed in it")
    }
    if failure.detail == "found an HTML page", let url = HTMLText.feedLink(text) {
      failure.detail = "found an HTML page, which names the feed \(url.prefix(200))"
    }
    return failure
  }
}

/// The document's place among others (RFC 5005) and its tombstones (RFC 6721).
struct FeedHistory {
  struct Deletion {
    var id: String
    var when: String?
  }

  var isComplete = false
  var isArchive = false
  var deletions: [Deletion] = []

  /// Removes everything for which items would be deleted.
  mutating func removeDeletions() {
    isComplete = false
    deletions = []
  }
}

extension FeedHistory {
  fileprivate func write(next: String?, archive: String?, to json: inout JSONText) {
    if isComplete || isArchive || next != nil || archive != nil {
      json.object("_feed") { json in
        if isComplete { json.bool("complete", true) }
        if isArchive { json.bool("archive", true) }
        json.string("next", next)
        json.string("prev_archive", archive)
      }
    }
    if !deletions.isEmpty {
      json.array("_deleted") { json in
        for deletion in deletions {
          json.object { json in
            json.string("id", deletion.id)
            json.string("when", deletion.when)
          }
        }
      }
    }
  }
}
