import TextFormats

/// The values of a feed or of one item, which become JSON at the end tag. Both have titles, links,
/// dates and extensions.
struct FeedViewEntry {
  struct Link {
    var relation: String
    var href: String
    var type: String?
    var title: String?
    var language: String?
    var length: String?
  }

  struct Author: Equatable {
    var name: String?
    var url: String?
    var email: String?
    var isEmpty: Bool { name == nil && url == nil && email == nil }
  }

  struct Attachment {
    var url: String
    var type: String?
    var bytes: Int?
    var seconds: Int?
  }

  /// A value and the rank of its source: a lower rank replaces a higher one.
  struct Ranked<Value> {
    private(set) var value: Value?
    private var rank = Int.max

    mutating func offer(_ value: Value, rank: Int) {
      guard rank < self.rank else { return }
      (self.value, self.rank) = (value, rank)
    }
  }

  var title = Ranked<(text: String, isHTML: Bool)>()
  var id: String?
  /// The id, if it is an absolute URL and declared to be the item's address.
  var permalink: String?
  var url: String?
  var links: [Link] = []
  var published: String?
  /// The date of publication as earlier versions read it.
  var publishedInID: String?
  var updated: String?
  /// The first text of each date that could not be read.
  var unreadablePublished: String?
  var unreadableUpdated: String?
  var summary = Ranked<[UInt8]>()
  var content = Ranked<(bytes: [UInt8], isHTML: Bool)>()
  var language: String?
  var image = Ranked<String>()
  private(set) var authors: [Author] = []
  private(set) var tags: [String] = []
  private(set) var attachments: [Attachment] = []
  var durationSeconds: Int?
  var extensions = FeedViewExtensions()

  mutating func add(_ author: Author) {
    guard !author.isEmpty, authors.count < XMLLimits.listMax else { return }
    if let known = authors.firstIndex(where: { $0.name == author.name }) {
      authors[known].url = authors[known].url ?? author.url
      authors[known].email = authors[known].email ?? author.email
    } else {
      authors.append(author)
    }
  }

  mutating func add(tag: String) {
    if !tag.isEmpty, tags.count < XMLLimits.listMax, !tags.contains(tag) { tags.append(tag) }
  }

  mutating func add(_ link: Link) {
    if links.count < XMLLimits.listMax { links.append(link) }
  }

  mutating func add(_ attachment: Attachment) {
    if !attachment.url.isEmpty, attachments.count < XMLLimits.listMax,
      !attachments.contains(where: { $0.url == attachment.url })
    {
      attachments.append(attachment)
    }
  }

  // MARK: JSON

  /// Returns the first link of that relation.
  func link(_ relation: String) -> String? {
    links.first { $0.relation == relation }?.href
  }

  /// Writes the members of an item.
  func writeItem(to json: inout JSONWriter) {
    json.string("id", id)
    json.string("url", url ?? permalink)
    json.string("external_url", link("related"))
    writeText(to: &json)
    json.string("summary", utf8: summary.value)
    if let content = content.value {
      json.string(content.isHTML ? "content_html" : "content_text", utf8: content.bytes)
    }
    json.string("date_published", published)
    if published != publishedInID {
      json.string("\(FeedView.dateInID)", publishedInID ?? "")
    }
    json.string("date_modified", updated)
    writeUnreadableDates(to: &json)
    json.string("language", language)
    json.string("image", image.value)
    writeAttachments(to: &json)
    writeLinks(to: &json)
    extensions.write(to: &json)
  }

  /// Writes the members of the feed, except for its items.
  func writeFeed(to json: inout JSONWriter) {
    writeText(to: &json)
    json.string("home_page_url", url)
    json.string("feed_url", link("self"))
    json.string("next_url", link("next"))
    json.string("description", utf8: summary.value)
    json.string("icon", image.value)
    json.string("language", language)
    json.string("date_published", published)
    json.string("date_modified", updated)
    json.string("_id", id)
    writeLinks(to: &json)
  }

  private func writeText(to json: inout JSONWriter) {
    if let title = title.value {
      json.string("title", title.text)
      if title.isHTML {
        let plain = HTMLText.plain(title.text).trimmed
        if plain != title.text { json.string("_title_text", plain) }
      }
    }
    if !authors.isEmpty {
      json.array("authors") { json in
        for author in authors {
          json.object { json in
            json.string("name", author.name)
            json.string("url", author.url)
            json.string("_email", author.email)
          }
        }
      }
    }
    if !tags.isEmpty {
      json.array("tags") { json in
        for tag in tags { json.string(nil, tag) }
      }
    }
  }

  /// Writes the dates that no other element of the same meaning stands in for.
  private func writeUnreadableDates(to json: inout JSONWriter) {
    let publishedText = published == nil ? unreadablePublished : nil
    let updatedText = updated == nil ? unreadableUpdated : nil
    guard publishedText != nil || updatedText != nil else { return }
    json.object("\(FeedView.unreadableDates)") { json in
      json.string("published", publishedText)
      json.string("updated", updatedText)
    }
  }

  private func writeAttachments(to json: inout JSONWriter) {
    guard !attachments.isEmpty else { return }
    json.array("attachments") { json in
      for (index, attachment) in attachments.enumerated() {
        json.object { json in
          json.string("url", attachment.url)
          json.string("mime_type", attachment.type)
          json.number("size_in_bytes", attachment.bytes)
          json.number(
            "duration_in_seconds", attachment.seconds ?? (index == 0 ? durationSeconds : nil))
        }
      }
    }
  }

  private func writeLinks(to json: inout JSONWriter) {
    guard !links.isEmpty else { return }
    json.array("_links") { json in
      for link in links {
        json.object { json in
          json.string("rel", link.relation)
          json.string("href", link.href)
          json.string("type", link.type)
          json.string("title", link.title)
          json.string("hreflang", link.language)
          json.string("length", link.length)
        }
      }
    }
  }
}
