/// The bounds of reading a feed in XML, each with its reason.
enum XMLLimits {
  /// The deepest nesting of elements; libxml2's own limit is 256. Deeper elements are dropped.
  static let depthMax = 200
  /// Start and end tags: each costs far more than its bytes.
  static let tagsMax = 2_000_000
  /// Different names of elements, attributes and namespaces: libxml2 searches them ever longer.
  static let namesMax = 20_000
  /// Attributes of one element: libxml2 compares each with each.
  static let attributesMax = 200
  /// Namespace declarations in force at one place: libxml2 looks them up one by one.
  static let namespacesMax = 500
  /// A longer base URL is ignored, because every relative link would grow by it.
  static let baseBytesMax = 2_048
  /// A longer relative URL is left as it is: its parts take many times its bytes.
  static let referenceBytesMax = 65_536
  /// A longer namespace is not one that is known.
  static let namespaceBytesMax = 256
  /// Bytes of one entity that the document type declares.
  static let entityBytesMax = 4_096
  static let entitiesMax = 1_000
  /// Bytes of one value of an extension object (`_rss` and the like). A longer one is left out.
  static let extensionValueBytesMax = 8_192
  /// Bytes of all extension values of one item or of the feed.
  static let extensionBytesMax = 32_768
  /// The deepest nesting of `_media` and `_podcast`.
  static let extensionDepthMax = 6
  /// Links, authors, tags and attachments of one item or of the feed, each.
  static let listMax = 1_000
  /// The view may have this many times the bytes of the document, for escapes and resolved URLs.
  static let growthMax = 4
  static let growthBytesMin = 1 << 20
}
