/// A field that takes text alone.
enum FeedField {
  case id, link, published, updated, language, timeToLive, updatePeriod, updateFrequency
  case author, authorName, authorURL, authorEmail, tag, keywords, duration, imageURL
}

/// A field that may hold markup.
enum MarkupField {
  case title, summary, excerpt, content
}

/// How an element that may hold markup is written.
enum ContentKind {
  case text, html, xhtml
  /// Another media type, which is text.
  case otherText
  /// Another media type.
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
