/// Writes feeds as OPML 2.0, the feeds of a folder as outlines in an outline.
package struct OPMLWriter {
  /// A folder with what is in it, in the order of the first feeds.
  private struct Folder {
    enum Child {
      case feed(OPMLDocument.Feed)
      /// The position in `folders`.
      case folder(Int)
    }

    var children: [Child] = []
    var positions: [String: Int] = [:]
  }

  /// The folders; the first one is the body.
  private var folders = [Folder()]
  private var titles = [""]

  /// - Complexity: O(*n*) for *n* titles of folders and feeds.
  package init(_ document: OPMLDocument) {
    for feed in document.feeds {
      var place = 0
      for title in feed.folder { place = folder(title, in: place) }
      folders[place].children.append(.feed(feed))
    }
  }

  /// Calls the closure with the parts of the text in order.
  package func write(_ output: (String) throws -> Void) rethrows {
    try output(
      """
      <?xml version="1.0" encoding="UTF-8"?>
      <opml version="2.0">
        <head>
          <title>Feeds</title>
        </head>
        <body>

      """)
    try write(0, indentation: "    ", output)
    try output("  </body>\n</opml>\n")
  }

  private mutating func folder(_ title: String, in place: Int) -> Int {
    if let known = folders[place].positions[title] { return known }
    let new = folders.count
    folders.append(Folder())
    titles.append(title)
    folders[place].positions[title] = new
    folders[place].children.append(.folder(new))
    return new
  }

  private func write(
    _ place: Int, indentation: String, _ output: (String) throws -> Void
  ) rethrows {
    for child in folders[place].children {
      switch child {
      case .feed(let feed): try output(indentation + Self.outline(feed) + "\n")
      case .folder(let inner):
        try output(indentation + "<outline text=\"\(Self.escaped(titles[inner]))\">\n")
        try write(inner, indentation: indentation + "  ", output)
        try output(indentation + "</outline>\n")
      }
    }
  }

  private static func outline(_ feed: OPMLDocument.Feed) -> String {
    var attributes = [("type", "rss"), ("text", feed.title ?? feed.url)]
    if let title = feed.title { attributes.append(("title", title)) }
    attributes.append(("xmlUrl", feed.url))
    if !feed.categories.isEmpty {
      attributes.append(("category", feed.categories.joined(separator: ",")))
    }
    let text = attributes.map { "\($0)=\"\(escaped($1))\"" }.joined(separator: " ")
    return "<outline \(text)/>"
  }

  /// Returns the text as the value of an attribute. Characters that XML does not allow are left
  /// out, and white space is written so that parsers keep it.
  private static func escaped(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"": result += "&quot;"
      case "\t", "\n", "\r": result += "&#\(scalar.value);"
      case "\u{FFFE}", "\u{FFFF}": break
      case _ where scalar.value < 0x20: break
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }
}
