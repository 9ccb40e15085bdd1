// Links, attachments and images in the attributes of elements.
extension FeedViewBuilder {
  mutating func link(_ element: Element) -> Role {
    let attributes = element.attributes
    guard let href = attributes["href"] ?? attributes["url"] ?? attributes["uri"] else {
      return .field(.link)
    }
    add(link: attributes["rel"]?.lowercased() ?? "alternate", href, element)
    return .flat
  }

  mutating func add(link relation: String, _ href: String, _ element: Element) {
    let attributes = element.attributes
    let link = FeedViewEntry.Link(
      relation: relation, href: resolve(href), type: attributes["type"],
      title: attributes["title"], language: attributes["hreflang"], length: attributes["length"])
    change { entry in
      entry.add(link)
      let type = link.type?.lowercased() ?? "text/html"
      if relation == "alternate", type == "text/html" || type == "application/xhtml+xml" {
        entry.url = link.href
      } else if relation == "enclosure" {
        entry.add(
          FeedViewEntry.Attachment(
            url: link.href, type: link.type, bytes: link.length.flatMap(Self.count)))
      }
    }
  }

  mutating func addAttachment(_ element: Element) {
    let attributes = element.attributes
    guard let url = attributes["url"] ?? attributes["href"] ?? attributes["uri"] else { return }
    let attachment = FeedViewEntry.Attachment(
      url: resolve(url), type: attributes["type"],
      bytes: attributes["length"].flatMap(Self.count))
    change { $0.add(attachment) }
  }

  mutating func offerImage(_ url: String, rank: Int) {
    let url = resolve(url)
    if !url.isEmpty { change { $0.image.offer(url, rank: rank) } }
  }

  mutating func takeMedia(_ element: Element) {
    switch element.local {
    case "thumbnail":
      if let url = element.attributes["url"] { offerImage(url, rank: 1) }
    case "content":
      guard let url = element.attributes["url"] else { return }
      let type = element.attributes["type"], medium = element.attributes["medium"]
      if medium == "image" || type?.hasPrefix("image/") == true {
        offerImage(url, rank: 2)
      } else {
        let resolved = resolve(url)
        let attachment = FeedViewEntry.Attachment(
          url: resolved, type: type, bytes: element.attributes["fileSize"].flatMap(Self.count),
          seconds: element.attributes["duration"].flatMap(FeedDuration.seconds))
        change { $0.add(attachment) }
      }
    default: break
    }
  }

  /// Returns a number of bytes; nil for anything else.
  private static func count(_ text: String) -> Int? {
    Int(text.trimmed).flatMap { $0 >= 0 ? $0 : nil }
  }
}
