import EntityModel

/// The rules by which the documents of a feed become items of entities.
///
/// Read from a file by ``FeedMappingFile``, which describes the grammar, and applied by
/// ``MappedDocument``.
package struct FeedMapping: Sendable {
  var name: String
  /// The meaning of an item's absence in a run that begins with the feed's own URL.
  var mode = FeedMode.window
  /// The feed's title.
  var title: JSONPointer?
  /// Seconds for which a document stays fresh.
  var timeToLive: ValueSource?
  /// The place of a flag that marks the document as a complete listing (RFC 5005, section 2).
  var complete: JSONPointer?
  var groups: [ItemGroup] = []
  var next: NextPage?
  var checkpoint: Checkpoint?

  /// Attributes that the sync itself fills in every entity that takes a feed; no mapping names
  /// them.
  package static let systemAttributes = ["id", "feedID", "feedRevision", "feedHash"]
}

/// One kind of nodes that become items.
struct ItemGroup: Sendable {
  var items: JSONPath
  /// The array or object that every document must have, even if it is empty. Without it the
  /// document is not one of this feed.
  var container: JSONPointer?
  /// The array or object that a document must have if the path selects nothing in it.
  var holder: JSONPointer?
  var entity: EntityChoice
  var identity: Identity
  var revision: ValueSource?
  var updatedAt: ValueSource?
  /// A flag that is true for a deleted item.
  var deleted: ValueSource?
  /// A date that only a deleted item has.
  var deletedAt: ValueSource?
  var attributes: [AttributeSource] = []
  var extra: ExtraAttribute?
  var deletions: DeletionNodes?
  /// True if the mapping is not one of the feed's own.
  var isBuiltIn = false
  /// Members that are read or listed as known; any other one is reported as unknown.
  var knownMembers = MemberNames()

  /// The entity of the items: one for all, or chosen by a value.
  enum EntityChoice: Sendable {
    /// The entity's name; nil for the feed's entity.
    case one(String?)
    case byValue(ValueSource, [String: String])
  }

  /// The source of an item's id.
  enum Identity: Sendable {
    /// The first pointer that leads to a value, for each item by itself.
    case first([JSONPointer])
    /// One level for all items of the feed, chosen once. An item that lacks it uses the next one.
    case chosen([IdentityLevel])

    var isChosen: Bool { if case .chosen = self { true } else { false } }
  }

  /// Attributes whose change alone does not count as a change of the item.
  var volatileAttributes: [String] {
    attributes.filter(\.isVolatile).map(\.name) + (extra.map { [$0.name] } ?? [])
  }
}

/// Nodes that name deleted items.
struct DeletionNodes: Sendable {
  var items: JSONPath
  var id: [JSONPointer]
  var revision: ValueSource?
  var deletedAt: ValueSource?
}

/// The source of an attribute's values.
struct AttributeSource: Sendable {
  var name: String
  var source: ValueSource
  var isRequired = false
  /// Replaces a value that is absent or cannot be converted.
  var defaultValue: Value?
  /// True if a change of the value alone, such as a view count, does not count as a change of the
  /// item.
  var isVolatile = false
}

/// A place in a node and the conversion of its value to a type.
struct ValueSource: Sendable {
  enum Place: Sendable {
    /// The first pointer whose value exists and converts.
    case pointers([JSONPointer])
    /// All nodes that a path selects for a list, otherwise the first one that converts; of the
    /// first path that gives a value.
    case nodes([JSONPath])
    /// The number of selected nodes.
    case count(JSONPath)
    /// A URL made of the item's other values.
    case template(URLTemplate)
    case constant(Value)
  }

  var place: Place
  var type: AttributeType
  var duration: DurationForm?
  var conversion = Conversion.none
}

/// A notation for lengths of time, which become seconds.
enum DurationForm: String, Sendable, CaseIterable {
  /// `PT1H2M3.5S`, with days and weeks. Months and years are refused, because their length varies.
  case iso8601
  /// `1:02:03`, `62:03`, `3723`
  case clock
}

/// The place of the next page's address.
enum NextPage: Sendable {
  case url([JSONPointer])
  case token(JSONPointer, parameter: String)
  case page(JSONPointer, of: JSONPointer, parameter: String)
  case offset(JSONPointer, limit: JSONPointer, total: JSONPointer, parameter: String)
  /// The Link header with rel=next (RFC 8288).
  case linkHeader
  /// The next page, or else the previous archive (RFC 5005), as the view of Atom and RSS has them.
  case archive
}

/// The place of the address with which the next run begins, in order to get changes only.
enum Checkpoint: Sendable {
  case url(JSONPointer)
  case token(JSONPointer, parameter: String)
}
