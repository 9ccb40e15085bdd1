// The roles of elements.
extension FeedViewBuilder {
  /// Returns the role of an element whose frame is the last one; its parent's frame precedes it.
  mutating func role(of element: Element) -> Role {
    guard frames.count >= 2 else { return .skipped }
    let parent = frames[frames.count - 2]
    switch parent.role {
    case .wrapper: return childOfWrapper(element)
    case .feed, .item: return child(of: parent.role, element)
    case .author: return childOfAuthor(element, parent)
    case .image: return childOfImage(element)
    case .node: return node(element)
    case .flat, .field: return flat(element, inside: parent)
    case .markup, .skipped: return .skipped
    }
  }

  private func childOfWrapper(_ element: Element) -> Role {
    guard element.vocabulary.isFeed else { return .skipped }
    switch element.local {
    case "channel": return .feed
    case "item", "entry": return .item
    // RSS 1.0 has the channel's image beside it.
    case "image": return .image
    default: return .skipped
    }
  }

  private mutating func child(of parent: Role, _ element: Element) -> Role {
    if element.vocabulary.isFeed {
      switch element.local {
      case "item", "entry": if case .feed = parent { return .item }
      case "items": return .wrapper
      case "textinput": return .skipped
      default: break
      }
    }
    if element.vocabulary == .media || element.vocabulary == .podcast { return node(element) }
    let role = named(element)
    remember(element, inside: nil)
    return role
  }

  /// Returns the role of an element in a feed or an item by its name.
  private mutating func named(_ element: Element) -> Role {
    let isInItem = isInItem
    switch element.vocabulary {
    case .rss, .rdfSite, .atom: return feedElement(element, isInItem)
    case .content where element.local == "encoded": return markup(.content, element, "text/html")
    case .dublinCore: return dublinCore(element)
    case .dublinTerms:
      switch element.local {
      case "issued": return .field(.published)
      case "modified": return .field(.updated)
      default: return .flat
      }
    case .itunes: return itunes(element)
    case .syndication:
      switch element.local {
      case "updateperiod": return .field(.updatePeriod)
      case "updatefrequency": return .field(.updateFrequency)
      default: return .flat
      }
    // Inside an item these elements may belong to the feed that the item comes from.
    case .history where isInItem, .tombstones where isInItem: return .flat
    case .history:
      if element.local == "complete" { history.isComplete = true }
      if element.local == "archive" { history.isArchive = true }
      return .flat
    case .tombstones: return tombstone(element)
    case .xhtml where element.local == "body": return markup(.content, element, "xhtml")
    default: return .flat
    }
  }

  private mutating func feedElement(_ element: Element, _ isInItem: Bool) -> Role {
    switch element.local {
    case "title": return markup(.title, element, "text")
    case "link": return link(element)
    case "guid", "id":
      frames[frames.count - 1].wasPermalink =
        (element.attributes["isPermaLink"] ?? "true").lowercased() == "true"
      return .field(.id)
    case "pubdate", "published", "issued": return .field(.published)
    case "updated", "modified", "lastbuilddate": return .field(.updated)
    case "description": return markup(.summary, element, "text/html")
    case "abstract", "summary": return markup(.summary, element, "text")
    case "subtitle", "tagline": return isInItem ? .flat : markup(.summary, element, "text")
    case "content":
      if let source = element.attributes["src"] {
        // The content is elsewhere, which makes it a link.
        add(link: "content", source, element)
      }
      return markup(.content, element, "text")
    case "body", "fullitem": return markup(.content, element, "xhtml")
    case "author", "managingeditor": return .author
    case "category", "keywords":
      if let term = element.attributes["term"] { change { $0.add(tag: term.trimmed) } }
      return .field(.tag)
    case "enclosure":
      addAttachment(element)
      return .flat
    case "language": return .field(.language)
    case "ttl": return .field(.timeToLive)
    case "image": return .image
    case "logo", "icon": return .field(.imageURL)
    default: return .flat
    }
  }

  private mutating func dublinCore(_ element: Element) -> Role {
    switch element.local {
    case "title": markup(.title, element, "text")
    case "date": .field(.updated)
    case "creator", "author": .field(.author)
    case "subject": .field(.tag)
    case "description": markup(.summary, element, "text/html")
    case "language": .field(.language)
    default: .flat
    }
  }

  private mutating func itunes(_ element: Element) -> Role {
    switch element.local {
    case "author": return .field(.author)
    case "summary", "subtitle":
      return markup(.excerpt, element, "text")
    case "duration": return .field(.duration)
    case "keywords": return .field(.keywords)
    case "image", "link":
      if let url = element.attributes["href"] ?? element.attributes["url"] {
        offerImage(url, rank: element.local == "image" ? 0 : 3)
      }
      return .flat
    case "category":
      if let text = element.attributes["text"] { change { $0.add(tag: text.trimmed) } }
      return .flat
    default: return .flat
    }
  }

  private mutating func tombstone(_ element: Element) -> Role {
    if element.local == "deleted-entry", let id = element.attributes["ref"]?.trimmed, !id.isEmpty {
      let text = element.attributes["when"]
      let when = text.flatMap { FeedDate.rfc3339($0) }
      history.deletions.append(
        FeedHistory.Deletion(
          id: id, when: when, unreadableWhen: when == nil ? text?.excerpt() : nil))
    }
    return .skipped
  }

  // MARK: Children

  private mutating func childOfAuthor(_ element: Element, _ parent: Frame) -> Role {
    remember(element, inside: parent)
    switch element.local {
    case "name": return .field(.authorName)
    case "uri", "url", "homepage": return .field(.authorURL)
    case "email": return .field(.authorEmail)
    default: return .flat
    }
  }

  private func childOfImage(_ element: Element) -> Role {
    element.local == "url" || element.local == "href" ? .field(.imageURL) : .skipped
  }

  private mutating func flat(_ element: Element, inside parent: Frame) -> Role {
    guard parent.path.utf8.count <= 200 else { return .skipped }
    remember(element, inside: parent)
    // Subcategories of iTunes stand inside their categories.
    if element.vocabulary == .itunes, element.local == "category",
      let text = element.attributes["text"]
    {
      change { $0.add(tag: text.trimmed) }
    }
    return .flat
  }

  /// Records the element's place among the extensions, and adds its attributes there.
  private mutating func remember(_ element: Element, inside parent: Frame?) {
    let member = parent?.member ?? element.vocabulary.member
    var name = element.name
    if member == "_other" { name = (element.prefix.map { $0 + ":" } ?? "") + name }
    let path = parent.map { $0.path + "." + name } ?? name
    frames[frames.count - 1].member = member
    frames[frames.count - 1].path = path
    for attribute in element.attributes where !attribute.hasNamespace {
      let (name, value) = ("\(path)@\(attribute.name)", attribute.value)
      change { $0.extensions.set(name, value, in: member) }
    }
  }

  // MARK: Trees

  private mutating func node(_ element: Element) -> Role {
    guard nodes.count < XMLLimits.extensionDepthMax else { return .skipped }
    var node = FeedViewExtensions.Node(name: element.name)
    for attribute in element.attributes {
      node.attributes.append((attribute.name, attribute.value))
    }
    nodes.append(node)
    frames[frames.count - 1].member = element.vocabulary.member
    if element.vocabulary == .media { takeMedia(element) }
    return .node
  }

  // MARK: Context

  private mutating func markup(
    _ field: MarkupField, _ element: Element, _ standard: String
  ) -> Role {
    let content = ContentKind(type: element.attributes["type"] ?? standard)
    frames[frames.count - 1].content = content
    frames[frames.count - 1].isBase64 =
      element.attributes["mode"]?.lowercased() == "base64" || content == .data
    return .markup(field)
  }

  /// True if the current element belongs to an item, not to the feed.
  var isInItem: Bool {
    for frame in frames.reversed() {
      switch frame.role {
      case .item: return true
      case .feed, .wrapper: return false
      default: continue
      }
    }
    return false
  }

  /// Changes the current item, or the feed outside of an item.
  mutating func change(_ body: (inout FeedViewEntry) -> Void) {
    if isInItem { body(&item) } else { body(&feed) }
  }

  /// Returns the absolute URL of a reference in the last frame's element.
  mutating func resolve(_ url: String) -> String {
    resolve(url, base: frames.last?.base ?? "")
  }
}
