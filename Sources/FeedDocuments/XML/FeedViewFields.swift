/// A field that holds text only.
enum FeedField {
  case id, link, published, updated, language, timeToLive, updatePeriod, updateFrequency
  case author, authorName, authorURL, authorEmail, tag, keywords, duration, imageURL
}

/// A field that may hold markup.
enum MarkupField {
  case title, summary, excerpt, content
}

/// The kind of content of an element that may hold markup.
enum ContentKind {
  case text, html, xhtml
  /// Text of another media type.
  case otherText
  /// Data of another media type.
  case data

  init(type: String) {
    switch type.lowercased().prefix(while: { $0 != ";" }) {
    case "text", "plain", "text/plain": self = .text
    case "html", "text/html": self = .html
    case "xhtml", "application/xhtml+xml": self = .xhtml
    case let type: self = type.hasPrefix("text/") || type.hasSuffix("xml") ? .otherText : .data
    }
  }
}
