import EntityModel

/// The reasons why a member may be the id of an item, the best first.
enum IdentityEvidence: Int, Comparable {
  /// A name such as `id` or `guid`.
  case id
  /// A member of an object such as `ids`.
  case group
  /// A name that ends in `id`.
  case suffix
  /// A name such as `slug` or `code`.
  case key
  case url
  /// An id of something inside of the item, which may be something else than the item.
  case inner
  /// A name such as `number` or `startTime`: what is unique within one list.
  case number
  /// Texts without spaces.
  case code
  case title
  case text
  case integer
  case date
  /// A member of the first element of a list.
  case element
  /// Fractions, long texts, counts of readers and dates of changes: different, but not for long.
  case unlikely

  static func < (one: Self, other: Self) -> Bool { one.rawValue < other.rawValue }

  /// True if the values stay the same, as far as one can know.
  var isLasting: Bool { self <= .suffix }

  /// True if the name or the form speaks for an id.
  var isNamed: Bool { self <= .inner }
}

extension MemberProfile {
  private static let idNames = ["id", "guid", "uuid", "uid", "identifier", "objectid", "gid"]
  private static let groupNames: Set = ["id", "ids", "identifiers", "externalids"]
  private static let keyNames: Set = [
    "slug", "key", "code", "isbn", "sku", "ean", "asin", "doi", "handle", "symbol",
  ]
  private static let numberNames: Set = [
    "number", "no", "num", "nr", "index", "sequence", "seq", "episodenumber", "seasonnumber",
    "start", "starttime", "startsat", "offset", "begin", "begintime",
  ]
  private static let titleNames: Set = [
    "title", "name", "headline", "displayname", "label", "subject", "caption",
  ]
  /// Values that are few, and different in a short list at most by chance.
  private static let kindNames: Set = [
    "type", "kind", "status", "state", "language", "lang", "locale", "category", "format",
  ]
  /// Values that change with each change of the item.
  private static let changing: Set = [
    "etag", "hash", "checksum", "digest", "md5", "sha1", "sha256", "signature",
  ]
  private static let changeDates: Set = [
    "updatedat", "updated", "modifiedat", "modified", "lastmodified", "datemodified",
    "lastupdated", "changedat", "dateupdated", "editedat",
  ]
  /// Words of ids that are those of something else.
  private static let otherThings: Set = [
    "parent", "category", "user", "author", "channel", "owner", "creator", "show", "series",
    "group", "playlist", "collection", "account", "organization", "season",
  ]
  /// Objects that only wrap the members of an item.
  private static let wrappers: Set = [
    "sys", "node", "data", "attributes", "fields", "properties", "snippet", "item", "entry",
    "resource", "object", "entity", "content", "document", "record", "meta", "metadata", "source",
  ]
  private static let wordsInID: Set = [
    "paid", "valid", "invalid", "void", "avoid", "grid", "bid", "mid", "android", "hybrid", "solid",
  ]
  private static let readerWords = [
    "view", "like", "vote", "comment", "popularity", "share", "favorite", "favourite", "play",
  ]
  private static let textBytesMax = 200

  /// The place of the name among those of ids; the lower, the better.
  var idNamePlace: Int { Self.idNames.firstIndex(of: roleName) ?? Self.idNames.count }

  /// The evidence that the member is the items' id; nil if it cannot be.
  var identityEvidence: IdentityEvidence? {
    guard isScalar, values.count > 0, !Self.changing.contains(roleName) else {
      return nil
    }
    if isUnlikely { return .unlikely }
    if steps.contains(.firstElement) { return .element }
    if let evidence = namedEvidence { return isOwn ? evidence : .inner }
    if look == .url { return isOfPicture ? .text : isOwn ? .url : .inner }
    if Self.numberNames.contains(roleName), isNumber { return .number }
    if dateForm != nil { return .date }
    if isNumber { return isWholeNumber ? .integer : .unlikely }
    if Self.titleNames.contains(roleName) { return .title }
    return spaced == 0 && !Self.kindNames.contains(roleName) ? .code : .text
  }

  private var isUnlikely: Bool {
    countsReaders || Self.changeDates.contains(roleName) || look == .html
      || values.longestBytes > Self.textBytesMax && look != .url
  }

  private var namedEvidence: IdentityEvidence? {
    if Self.idNames.contains(roleName) { return .id }
    if Self.kindNames.contains(roleName) { return nil }
    if names.dropLast().last.map({ Self.groupNames.contains(NameWords($0).joined) }) ?? false {
      return .group
    }
    let words = NameWords(namingToken).words
    let isID = roleName.hasSuffix("id") && !Self.wordsInID.contains(words.last ?? "")
    if isID { return words.allSatisfy { !Self.otherThings.contains($0) } ? .suffix : .inner }
    return Self.keyNames.contains(roleName) ? .key : nil
  }

  /// True if the member belongs to the item, and not to an object inside of it.
  private var isOwn: Bool {
    names.dropLast().allSatisfy { name in
      let name = NameWords(name).joined
      return Self.wrappers.contains(name) || Self.groupNames.contains(name)
    }
  }

  /// True for counts of an item's readers, whose change is no change of the item.
  var countsReaders: Bool {
    isNumber && !roleName.hasSuffix("id")
      && Self.readerWords.contains { roleName.contains($0) }
  }
}
