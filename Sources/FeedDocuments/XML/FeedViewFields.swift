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

/// Reads the durations of podcasts.
enum FeedDuration {
  /// Returns the seconds of `3723`, `62:03`, `1:02:03` or `3723.5`; nil for other texts.
  static func seconds(_ text: String) -> Int? {
    let parts = text.trimmed.split(
      separator: ":", maxSplits: 3, omittingEmptySubsequences: false)
    guard (1...3).contains(parts.count) else { return nil }
    var total = 0.0
    for part in parts {
      guard part.utf8.count <= 9, let value = Double(part), value >= 0, value.isFinite else {
        return nil
      }
      total = total * 60 + value
    }
    return total <= 1_000_000_000 ? Int(total) : nil
  }
}
