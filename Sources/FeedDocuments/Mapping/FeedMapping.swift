import EntityModel

/// How the documents of a feed become items of entities: a declaration, without code.
///
/// Read from a file by ``FeedMappingFile``, which describes the grammar, and applied by
/// ``MappedDocument``.
package struct FeedMapping: Sendable {
  var name: String
  /// What the absence of an item means in a run that begins with the feed's own URL.
  var mode = FeedMode.window
  /// The feed's title.
  var title: JSONPointer?
  /// Seconds for which a document stays good.
  var timeToLive: ValueSource?
  /// A true value there says that the document lists all that there is (RFC 5005, section 2).
  var complete: JSONPointer?
  var groups: [ItemGroup] = []
  var next: NextPage?
  var checkpoint: Checkpoint?

  /// Attributes that the sync itself fills in every entity that takes a feed; no mapping names them.
  package static let systemAttributes = ["id", "feedID", "feedRevision", "feedHash"]
}

/// Nodes of a document that become items.
struct ItemGroup: Sendable {
  var items: JSONPath
  /// What a document must have, though it may be empty: without it the form of the feed is another.
  var container: JSONPointer?
  var entity: EntityChoice
  var identity: Identity
  var revision: ValueSource?
  var updatedAt: ValueSource?
  /// True for an item that is there no more.
  var deleted: ValueSource?
  /// A date for an item that is there no more.
  var deletedAt: ValueSource?
  var attributes: [AttributeSource] = []
  var extra: ExtraAttribute?
  var deletions: DeletionNodes?
  /// Members of the nodes that are read, or known to be of no use: any other one is drift.
  var knownMembers = MemberNames()

  /// What the items become, by the entity that they have in common or by a value.
  enum EntityChoice: Sendable {
    /// `nil` for the entity that the feed goes to.
    case one(String?)
    case byValue(ValueSource, [String: String])
  }

  /// What tells one item from another.
  enum Identity: Sendable {
    /// Of each item the first that it has.
    case first([JSONPointer])
    /// Of all items of the feed the same, chosen once; of an item that lacks it, a later one.
    case chosen([IdentityLevel])

    var isChosen: Bool { if case .chosen = self { true } else { false } }
  }

  /// Attributes whose change makes no changed item.
  var volatileAttributes: [String] {
    attributes.filter(\.isVolatile).map(\.name) + (extra.map { [$0.name] } ?? [])
  }
}

/// Nodes that name what is there no more.
struct DeletionNodes: Sendable {
  var items: JSONPath
  var id: [JSONPointer]
  var revision: ValueSource?
  var deletedAt: ValueSource?
}

/// Where an attribute's values come from.
struct AttributeSource: Sendable {
  var name: String
  var source: ValueSource
  var isRequired = false
  /// What stands for a value that is not there, or cannot be used.
  var defaultValue: Value?
  /// Not part of what makes an item a changed one, such as views.
  var isVolatile = false
}

/// A place in a node, and how what is there becomes a value of a type.
struct ValueSource: Sendable {
  enum Place: Sendable {
    /// The first that is there and converts.
    case pointers([JSONPointer])
    /// All of them for a list, else the first that converts.
    case nodes(JSONPath)
    /// How many nodes there are.
    case count(JSONPath)
    /// Filled with the item's other values.
    case template(URLTemplate)
    case constant(Value)
  }

  var place: Place
  var type: AttributeType
  var duration: DurationForm?
  var conversion = Conversion.none
}

/// How a length of time is written as text; it becomes seconds.
enum DurationForm: String, Sendable, CaseIterable {
  /// `PT1H2M3.5S`, with days and weeks, but not with months and years, which have no length.
  case iso8601
  /// `1:02:03`, `62:03`, `3723`
  case clock
}

/// Where the next page is.
enum NextPage: Sendable {
  case url([JSONPointer])
  case token(JSONPointer, parameter: String)
  case page(JSONPointer, of: JSONPointer, parameter: String)
  case offset(JSONPointer, limit: JSONPointer, total: JSONPointer, parameter: String)
  /// The Link header with rel=next (RFC 8288).
  case linkHeader
  /// The next page, else the archive before this document (RFC 5005), of the view of Atom and RSS.
  case archive
}

/// What the next run begins with in place of the feed's own URL, to be told of changes only.
enum Checkpoint: Sendable {
  case url(JSONPointer)
  case token(JSONPointer, parameter: String)
}
