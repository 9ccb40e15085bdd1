// The open elements of the builder.
extension FeedViewBuilder {
  /// An open element, with the state that its content needs.
  struct Frame {
    var role: Role
    var base: String
    var namespaces: Int
    /// The start of its text in the buffer.
    var textStart = 0
    /// The member of the view that keeps the element among the extensions, and its name there.
    var member = ""
    var path = ""
    /// The kind of content that an element with possible markup declares.
    var content = ContentKind.text
    var isBase64 = false
    /// True if a child element shows that the content is markup, whatever was declared.
    var isInline = false
    /// The content of the `<div>` that Atom puts around XHTML.
    var enclosed: Range<Int>?
    var wasPermalink = true
    var author = FeedViewEntry.Author()
  }

  enum Role {
    /// An element around the feed: `rss`, `rdf:RDF`, or `items` of RSS 1.1.
    case wrapper
    case feed
    case item
    /// The text of one field.
    case field(FeedField)
    /// The text or markup of one field.
    case markup(MarkupField)
    case author
    case image
    /// An element that is only kept among the extensions.
    case flat
    case node
    /// An ignored element.
    case skipped

    var keepsText: Bool {
      switch self {
      case .field, .markup, .author, .image, .flat, .node: true
      case .wrapper, .feed, .item, .skipped: false
      }
    }
  }

  /// An element as it begins.
  struct Element {
    /// The name as written, without its prefix.
    var name: String
    var prefix: String?
    var vocabulary: XMLVocabulary
    var attributes: XMLAttributes
    /// The name in lower case, because feeds mix the cases.
    var local: String

    /// True for the elements that look like items of a feed, with the namespace of one or none.
    var isNamedAsItem: Bool {
      (local == "item" || local == "entry") && (vocabulary.isFeed || prefix == nil)
    }

    init(
      name: String, prefix: String?, vocabulary: XMLVocabulary, attributes: XMLAttributes
    ) {
      (self.name, self.prefix) = (name, prefix)
      (self.vocabulary, self.attributes) = (vocabulary, attributes)
      local = name.lowercased()
    }
  }
}

extension FeedViewBuilder.Role {
  var isMarkup: Bool {
    if case .markup = self { true } else { false }
  }
}
