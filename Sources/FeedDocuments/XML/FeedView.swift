import Foundation
import TextFormats

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
/// `FeedViewExtensions`); `_unreadable_dates`, the texts of dates of items and tombstones that are
/// in no known form; `_date_in_id`, the date of publication that a hash for an id has, where
/// earlier versions read another one, or "" where they read none; `_rss.ttl` in seconds; `_feed`
/// with the members of RFC 5005 (`complete`, `archive`, `next`, `prev_archive`); `_deleted`, the
/// tombstones of RFC 6721 with `id` and `when`.
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
  /// The first of them, with its line.
  package let firstFault: String?
  /// The encoding of the document.
  package let encoding: String

  /// The member of an item or a tombstone that has the texts of dates that cannot be read.
  static let unreadableDates: StaticString = "_unreadable_dates"

  /// The member of an item that replaces `date_published` in hashes that are ids.
  static let dateInID: StaticString = "_date_in_id"

  /// Reads a document in XML. O(length), in a few times the document's size of memory.
  ///
  /// Only entities of plain text are expanded, and nothing is fetched.
  ///
  /// - Parameters:
  ///   - bytes: The body, without transfer encoding and compression.
  ///   - contentType: The response's Content-Type, for its charset.
  ///   - baseURL: The document's URL, which relative URLs are resolved against.
  /// - Throws: `.htmlPage`, or `.unknownFormat` with what the document seems to be; `.empty`;
  ///   `.misplacedItems` and `.truncated` if it contains items but none can be read; `.tooLarge`
  ///   and `.tooDeep` for documents beyond `XMLLimits`; `.outOfMemory`.
  package static func read(
    _ bytes: UnsafeRawBufferPointer, contentType: String?, baseURL: String?
  ) throws(DocumentError) -> FeedView {
    guard !bytes.isEmpty else { throw DocumentError(.empty) }
    let reading = try XMLReading(bytes, contentType: contentType, base: baseURL ?? "")
    let (builder, faults) = (reading.builder, reading.faults)
    guard let format = builder.format else { throw DocumentError(.unknownFormat) }
    return FeedView(
      json: builder.document(), format: format, isComplete: reading.isComplete,
      itemCount: builder.itemCount, salvagedItems: faults > 0 ? builder.itemCount : 0,
      lostItems: reading.lostItems, faults: faults, firstFault: reading.firstFault?.text,
      encoding: reading.encoding)
  }
}

extension FeedViewBuilder {
  /// Returns the whole view as JSON.
  fileprivate consuming func document() -> PaddedJSON {
    var json = JSONWriter()
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
}

/// The document's place among others (RFC 5005) and its tombstones (RFC 6721).
struct FeedHistory {
  struct Deletion {
    var id: String
    var when: String?
    /// The text of a time that cannot be read.
    var unreadableWhen: String?
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
  fileprivate func write(next: String?, archive: String?, to json: inout JSONWriter) {
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
            if let text = deletion.unreadableWhen {
              json.object("\(FeedView.unreadableDates)") { $0.string("when", text) }
            }
          }
        }
      }
    }
  }
}
