/// The namespaces that feeds are made of.
enum XMLVocabulary {
  /// RSS 0.9x and 2.0, without a namespace or with one of those that some feeds use.
  case rss
  /// RSS 0.90, 1.0 and 1.1.
  case rdfSite
  case atom
  case rdf, content, dublinCore, dublinTerms, itunes, podcast, media, syndication, history
  case tombstones, xhtml
  case other

  /// - Parameters:
  ///   - uri: The namespace; nil where none is declared.
  ///   - prefix: The prefix, which is used if no namespace is declared for it.
  init(uri: String?, prefix: String?) {
    guard let uri else {
      self = prefix.map(Self.customary) ?? .rss
      return
    }
    self = Self.known[uri.lowercased()] ?? Self.family(of: uri.lowercased())
  }

  private static let known: [String: XMLVocabulary] = [
    "": .rss,
    "http://blogs.law.harvard.edu/tech/rss": .rss,
    "http://cyber.law.harvard.edu/rss": .rss,
    "http://purl.org/rss/1.0/modules/rss091#": .rss,
    "http://purl.org/rss/1.0/": .rdfSite,
    "http://my.netscape.com/rdf/simple/0.9/": .rdfSite,
    "http://channel.netscape.com/rdf/simple/0.9/": .rdfSite,
    "http://purl.org/net/rss1.1#": .rdfSite,
    "http://www.w3.org/2005/atom": .atom,
    "http://purl.org/atom/ns#": .atom,
    "http://example.com/newformat#": .atom,
    "http://example.com/necho": .atom,
    "http://purl.org/echo/": .atom,
    "uri/of/echo/namespace#": .atom,
    "http://purl.org/pie/": .atom,
    "http://www.w3.org/1999/02/22-rdf-syntax-ns#": .rdf,
    "http://purl.org/rss/1.0/modules/content/": .content,
    "http://purl.org/dc/elements/1.1/": .dublinCore,
    "http://purl.org/dc/terms/": .dublinTerms,
    "http://www.itunes.com/dtds/podcast-1.0.dtd": .itunes,
    "http://example.com/dtds/podcast-1.0.dtd": .itunes,
    "https://podcastindex.org/namespace/1.0": .podcast,
    "http://search.yahoo.com/mrss": .media,
    "http://search.yahoo.com/mrss/": .media,
    "http://purl.org/rss/1.0/modules/syndication/": .syndication,
    "http://purl.org/syndication/history/1.0": .history,
    "http://purl.org/atompub/tombstones/1.0": .tombstones,
    "http://www.w3.org/1999/xhtml": .xhtml,
  ]

  private static func family(of uri: String) -> XMLVocabulary {
    if uri.contains("backend.userland.com/rss") { return .rss }
    if uri.contains("podcastindex-org/podcast-namespace") { return .podcast }
    if uri.contains("itunes.com/dtds/podcast") { return .itunes }
    return .other
  }

  private static func customary(_ prefix: String) -> XMLVocabulary {
    switch prefix.lowercased() {
    case "", "rss": .rss
    case "atom": .atom
    case "rdf": .rdf
    case "content": .content
    case "dc": .dublinCore
    case "dcterms": .dublinTerms
    case "itunes": .itunes
    case "podcast": .podcast
    case "media": .media
    case "sy": .syndication
    case "xhtml": .xhtml
    default: .other
    }
  }

  /// True if its elements are those of a feed and its items.
  var isFeed: Bool { self == .rss || self == .rdfSite || self == .atom }

  /// The member of the view that keeps its elements.
  var member: String {
    switch self {
    case .rss, .rdfSite, .rdf, .content, .syndication: "_rss"
    case .atom, .history, .tombstones: "_atom"
    case .dublinCore, .dublinTerms: "_dc"
    case .itunes: "_itunes"
    case .podcast: "_podcast"
    case .media: "_media"
    case .xhtml, .other: "_other"
    }
  }
}
