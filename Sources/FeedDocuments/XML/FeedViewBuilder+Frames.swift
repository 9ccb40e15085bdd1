// The elements of the document on their way through the builder.
extension FeedViewBuilder {
  /// An open element: what it is taken for, and what its content needs to know.
  struct Frame {
    var role: Role
    var base: String
    var namespaces: Int
    /// Where its text begins in the buffer.
    var textStart = 0
    /// The member and the name under which the extensions keep it.
    var member = ""
    var path = ""
    /// How an element that may hold markup says its content is written.
    var content = ContentKind.text
    var isBase64 = false
    /// Whether a child has shown that the content is markup, whatever was said.
    var isInline = false
    /// The `<div>` that Atom puts around XHTML: what it encloses.
    var enclosed: Range<Int>?
    var wasPermalink = true
    var author = FeedViewEntry.Author()
  }

  enum Role {
    /// Around the feed: `rss`, `rdf:RDF`, and `items` of RSS 1.1.
    case wrapper
    case feed
    case item
    /// Text that one field takes.
    case field(FeedField)
    /// Text or markup that one field takes.
    case markup(MarkupField)
    case author
    case image
    /// Kept among the extensions only.
    case flat
    case node
    /// Inside `_media`: its elements count as the item's own.
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
    /// As written.
    var name: String
    var prefix: String?
    var vocabulary: XMLVocabulary
    var attributes: XMLAttributes
    /// In lower case, for writers mix them.
    var local: String

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
