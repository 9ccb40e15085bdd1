import EntityModel
import StrictYAML

/// Reads the file of a ``FeedMapping``, in the YAML dialect of migrations.
///
/// ```yaml
/// mapping: talks                    # its name
/// mode: full                        # window (default), full or delta: what the feed's URL lists
/// title: /name                      # the feed's title
/// ttl: { at: /minutes, scale: 60 }  # seconds for which a document stays fresh
/// complete: /isWhole                # a flag that makes the run a full one
/// items: $.talks[*]                 # JSONPath (RFC 9535): the nodes that become items
/// entity: Episode                   # default: the feed's entity
/// id: [/uuid, /id]                  # the first one that an item has; or identity, below
/// revision: /rev                    # an integer from 0 that grows with every change
/// updatedAt: { at: /changed, date: unixSeconds }  # also fills the attribute of that name
/// deleted: /isDeleted               # a flag of deleted items
/// deletedAt: /deletedAt             # a date that only deleted items have
/// known: [rank, score]              # unused members that are not reported as unknown
/// extra: rest                       # an optional attribute, string or data, that keeps as JSON
///                                   # the members that are neither read nor known; see below
/// attributes:
///   title: /title                   # a JSON Pointer (RFC 6901)
///   summary: [/abstract, /text]     # the first one that exists and converts
///   tags: $.tags[*].name            # JSONPath: all nodes for a list, else the first that converts
///   seats: { count: "$.seats[*]" }  # the number of nodes
///   url: { template: "https://talks.example/{id}" }  # RFC 6570, level 1: id and attributes
///   type: { value: free }
///   publishedAt: { at: /published, date: iso8601, zone: Z }  # a conversion, as in migrations
///   duration: { at: /length, duration: iso8601 }   # or clock (1:02:03): seconds
///   room: { at: /room, required: true }            # an item without it is rejected
///   price: { at: /price, default: 0 }              # replaces an absent or unusable value
///   views: { at: /views, volatile: true }          # its change alone is no change of the item
/// next: { url: /next }              # the next page, see below
/// checkpoint: { url: /changes }     # the URL of the next run, which lists changes only
/// ```
///
/// Other forms:
///
/// ```yaml
/// groups:                           # several kinds of nodes, each with items to attributes
///   - items: $.talks[*]
///     …
/// kind: { at: /type, entities: { talk: Episode, course: LearningPath } }  # in place of entity
/// identity: [/id, /url, [/title, /date]]  # in place of id: the first that distinguishes the
///                                   # items, chosen once for the feed; a list is a hash of its
///                                   # values; in one group only
/// identity: [/id, { fallback: [/text] }]  # a hash, only for items that have no other id
/// deleted: { items: "$.items[?@.type=='gone']", id: /id, revision: /rev, deletedAt: /when }
/// next: /next                       # the same as { url: /next }
/// next: { token: /nextToken, param: pageToken }
/// next: { page: /page, pages: /pageCount, param: page }
/// next: { offset: /skip, limit: /limit, total: /total, param: skip }
/// next: link                        # the Link header, rel=next
/// next: rfc5005                     # next and prev-archive of Atom and RSS
/// checkpoint: { token: /cursor, param: since }
/// ```
///
/// Pointers begin with `/` and paths with `$`. Those of items start at the item's node; those of
/// `title`, `ttl`, `complete`, `items`, `next` and `checkpoint` start at the document. Null counts
/// as absent. RSS and Atom are read as the JSON view that `FeedView` describes.
///
/// A member of an item counts as read if a pointer or a path leads through it: `/stats/views` reads
/// `stats`. `extra` keeps all other members that `known` does not name, including extensions
/// (`_name`), as an object of ``CanonicalJSON`` of at most 16 KiB. Members are taken in the order
/// of their names; those that do not fit are left out and counted. As for volatile attributes, a
/// change of `extra` alone is no change of the item.
enum FeedMappingFile {
  /// The largest size of a file in bytes; mappings are written by hand.
  static let bytesMax = 256 << 10

  /// Reads a mapping against the schema that it maps to.
  ///
  /// - Parameters:
  ///   - file: The name of the file in errors, usually its path.
  ///   - entity: The feed's entity.
  ///   - isBuiltIn: If true, attributes that an entity lacks are ignored, and those that it
  ///     requires may be missing.
  /// - Throws: `YAMLError` at the first mistake, with what to write there and where the keys are
  ///   described.
  static func read(
    _ bytes: [UInt8], file: String, schema: Schema, entity: String, isBuiltIn: Bool = false
  ) throws(YAMLError) -> FeedMapping {
    do throws(YAMLError) {
      let root = try YAMLDocument.parse(bytes: bytes, file: file, bytesMax: bytesMax)
      return try mapping(
        root, FeedMappingReader(schema: schema, feedEntity: entity, isBuiltIn: isBuiltIn))
    } catch {
      throw YAMLError(
        file: error.file, line: error.line, column: error.column,
        summary: error.summary + referenceNote)
    }
  }

  private static func mapping(
    _ root: YAMLNode, _ reader: FeedMappingReader
  ) throws(YAMLError) -> FeedMapping {
    do {
      return try reader.mapping(root)
    } catch let error as YAMLError {
      throw error
    } catch {
      // The shared readers of conversions throw nothing else.
      throw root.error("\(error)")
    }
  }

  /// Ends every message about a mapping file.
  static let referenceNote = "; see \"Feed mapping reference\" in the documentation"
}
