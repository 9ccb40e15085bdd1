import Foundation

// The use of an element's text at its end tag.
extension FeedViewBuilder {
  /// Returns the frame's text in the buffer.
  private func string(_ frame: Frame) -> String {
    String(decoding: buffer[frame.textStart...], as: UTF8.self).trimmed
  }

  mutating func finish(_ field: FeedField, _ frame: Frame) {
    let text = string(frame)
    keep(text, field, frame)
    guard !text.isEmpty else { return }
    switch field {
    case .id: takeIdentity(text, frame)
    case .link: takeLink(text, frame)
    case .published, .updated: takeDate(text, field)
    case .language: change { $0.language = text }
    case .timeToLive, .updatePeriod, .updateFrequency: takeTimeToLive(text, field)
    case .author: change { $0.add(FeedAuthor.read(text)) }
    case .authorName: changeAuthor { $0.name = text }
    case .authorURL:
      let url = resolve(text, base: frame.base)
      changeAuthor { $0.url = url }
    case .authorEmail: changeAuthor { $0.email = text }
    case .tag: change { $0.add(tag: text) }
    case .keywords:
      addTags(text)
    case .duration: change { $0.durationSeconds = FeedDuration.seconds(text) }
    case .imageURL: offerImage(text, rank: 2)
    }
  }

  /// Adds the unchanged text to the extensions.
  private mutating func keep(_ text: String, _ field: FeedField, _ frame: Frame) {
    switch field {
    case .timeToLive, .updatePeriod, .updateFrequency: return
    default: if frame.path.isEmpty { return }
    }
    change { $0.extensions.set(frame.path, text, in: frame.member) }
  }

  private mutating func takeIdentity(_ text: String, _ frame: Frame) {
    // Relative to the document, any id would be an address, and most are none.
    let address =
      frame.wasPermalink && URLReference.isWeb(text)
      ? resolve(text, base: frame.base) : nil
    change { entry in
      entry.id = text
      entry.permalink = address
    }
  }

  private mutating func takeLink(_ text: String, _ frame: Frame) {
    // Many feeds escape the ampersand of a query twice.
    let href = resolve(text.replacing("&amp;", with: "&"), base: frame.base)
    change { entry in
      entry.url = href
      entry.add(FeedViewEntry.Link(relation: "alternate", href: href))
    }
  }

  private mutating func takeDate(_ text: String, _ field: FeedField) {
    let date = FeedDate.rfc3339(text)
    let dateInID = field == .published ? FeedDate.rfc3339(text, .ofStoredIDs) : nil
    change { entry in
      entry.publishedInID = dateInID ?? entry.publishedInID
      switch (field, date) {
      case (.published, let date?): entry.published = date
      case (.published, nil):
        entry.unreadablePublished = entry.unreadablePublished ?? text.excerpt()
      case (_, let date?): entry.updated = date
      case (_, nil): entry.unreadableUpdated = entry.unreadableUpdated ?? text.excerpt()
      }
    }
  }

  private mutating func takeTimeToLive(_ text: String, _ field: FeedField) {
    switch field {
    case .timeToLive: schedule.minutes = Int(text).flatMap { (1...527_040).contains($0) ? $0 : nil }
    case .updatePeriod: schedule.period = text.lowercased()
    default: schedule.frequency = Int(text).flatMap { (1...1_000_000).contains($0) ? $0 : nil }
    }
  }

  private mutating func changeAuthor(_ body: (inout FeedViewEntry.Author) -> Void) {
    if !frames.isEmpty { body(&frames[frames.count - 1].author) }
  }

  mutating func finishAuthor(_ frame: Frame) {
    let text = string(frame)
    let author = frame.author.isEmpty ? FeedAuthor.read(text) : frame.author
    change { entry in
      entry.add(author)
      entry.extensions.set(frame.path, text, in: frame.member)
    }
  }

  mutating func finishFlat(_ frame: Frame) {
    guard !frame.path.isEmpty else { return }
    let text = string(frame)
    change { $0.extensions.set(frame.path, text, in: frame.member) }
  }

  /// Uses the text of an image element as its URL, as some items have it.
  mutating func finishImage(_ frame: Frame) {
    let text = string(frame)
    if URLReference.isWeb(text) { offerImage(text, rank: 2) }
  }

  mutating func finishNode(_ frame: Frame) {
    guard var node = nodes.popLast() else { return }
    node.text = string(frame)
    takeMedia(node, frame)
    var admitted = false
    change { admitted = $0.extensions.admit(node) }
    guard admitted else { return }
    if nodes.isEmpty {
      change { $0.extensions.add(node, to: frame.member) }
    } else {
      nodes[nodes.count - 1].children.append(node)
    }
  }

  private mutating func takeMedia(_ node: FeedViewExtensions.Node, _ frame: Frame) {
    guard frame.member == "_media", !node.text.isEmpty else { return }
    let type = node.attributes.first { $0.name == "type" }?.value
    let isHTML = type == "html"
    switch node.name.lowercased() {
    case "title": change { $0.title.offer((node.text, isHTML), rank: 2) }
    case "description": change { $0.summary.offer(Array(node.text.utf8), rank: 3) }
    case "keywords":
      addTags(node.text)
    case "category": change { $0.add(tag: node.text) }
    default: break
    }
  }

  // MARK: Markup

  mutating func finish(_ field: MarkupField, _ frame: Frame) {
    let (bytes, isHTML) = markup(frame)
    guard !bytes.isEmpty else { return }
    change { entry in
      switch field {
      case .title:
        entry.title.offer((String(decoding: bytes, as: UTF8.self), isHTML), rank: 0)
      case .summary: entry.summary.offer(bytes, rank: 0)
      case .excerpt: entry.summary.offer(bytes, rank: 2)
      case .content: entry.content.offer((bytes, isHTML), rank: 0)
      }
    }
  }

  /// Returns the content as text, or as HTML with absolute links.
  private mutating func markup(_ frame: Frame) -> ([UInt8], isHTML: Bool) {
    var slice = buffer[frame.textStart...]
    if enclosesInDivision, frame.content == .xhtml, let enclosed = frame.enclosed,
      buffer[enclosed.upperBound...].dropFirst("</div>".utf8.count).allSatisfy(Ascii.isSpace)
    {
      slice = buffer[enclosed]
    }
    var text = String(decoding: slice, as: UTF8.self).trimmed
    if frame.isBase64, !frame.isInline,
      let data = Data(base64Encoded: text, options: .ignoreUnknownCharacters),
      let decoded = String(validating: data, as: UTF8.self)
    {
      text = decoded.trimmed
    }
    let isHTML =
      frame.isInline || frame.content == .html || frame.content == .xhtml
      || (format != .atom && HTMLText.looksLikeHTML(text))
    let bytes = Array(text.utf8)
    guard isHTML else { return (bytes, false) }
    let base = parsed(frame.base)
    return (HTMLText.resolvingLinks(bytes, base: base, bytesLeft: &resolvedBytesLeft), true)
  }

  /// Adds keywords between commas, at most as many as an item may have.
  private mutating func addTags(_ list: String) {
    let words = list.split(separator: ",", maxSplits: XMLLimits.listMax)
    for word in words.prefix(XMLLimits.listMax) { change { $0.add(tag: String(word).trimmed) } }
  }
}

/// Reads the authors of RSS.
enum FeedAuthor {
  /// Returns the name and the address of `jo@example.com (Jo)` or `Jo <jo@example.com>`, or the one
  /// that is present.
  static func read(_ text: String) -> FeedViewEntry.Author {
    var author = FeedViewEntry.Author()
    let words = text.split { $0.isWhitespace || "()<>".contains($0) }
    guard let email = words.first(where: { $0.dropFirst().dropLast().contains("@") }) else {
      author.name = text.isEmpty ? nil : text
      return author
    }
    author.email = String(email.trimmingPrefix("mailto:"))
    let rest = text.replacing(email, with: "")
      .trimmingCharacters(in: CharacterSet(charactersIn: " ()<>,;\t\n"))
    author.name = rest.isEmpty ? nil : rest
    return author
  }
}

/// The frequency of changes that a feed declares.
struct FeedSchedule {
  var minutes: Int?
  var period: String?
  var frequency: Int?

  /// Seconds for which the document stays fresh; nil if it does not declare any.
  var seconds: Int? {
    if let minutes { return minutes * 60 }
    guard period != nil || frequency != nil else { return nil }
    let length: Int
    switch period ?? "daily" {
    case "hourly": length = 3_600
    case "daily": length = 86_400
    case "weekly": length = 7 * 86_400
    case "monthly": length = 30 * 86_400
    case "yearly": length = 365 * 86_400
    default: return nil
    }
    return max(1, length / (frequency ?? 1))
  }
}
