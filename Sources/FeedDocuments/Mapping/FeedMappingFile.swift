import EntityModel
import StrictYAML

/// The file of a ``FeedMapping``, in the dialect of migrations.
///
/// ```yaml
/// mapping: talks                    # its name
/// mode: full                        # window (default), full or delta: what a run from the feed's URL lists
/// title: /name                      # the feed's title
/// ttl: { at: /minutes, scale: 60 }  # seconds for which a document stays good
/// complete: /isWhole                # true there makes the run a full one
/// items: $.talks[*]                 # JSONPath (RFC 9535): the nodes that become items
/// entity: Episode                   # default: the entity that the feed goes to
/// id: [/uuid, /id]                  # of each item the first that it has; or identity, below
/// revision: /rev                    # a whole number from 0 that grows with every change
/// updatedAt: { at: /changed, date: unixSeconds }  # goes to the attribute of that name, too
/// deleted: /isDeleted               # true: the item is there no more
/// deletedAt: /deletedAt             # a date: the item is there no more
/// known: [rank, score]              # members of items that are not read, and are no news
/// extra: rest                       # an optional attribute, string or data, that keeps as JSON the
///                                   # members that are neither read nor known; see below
/// attributes:
///   title: /title                   # a JSON Pointer (RFC 6901)
///   summary: [/abstract, /text]     # the first that is there and converts
///   tags: $.tags[*].name            # JSONPath: all for a list, else the first that converts
///   seats: { count: "$.seats[*]" }  # how many
///   url: { template: "https://talks.example/{id}" }  # RFC 6570, level 1: id and attributes
///   type: { value: free }
///   publishedAt: { at: /published, date: iso8601, zone: Z }  # keys of a conversion, as in migrations
///   duration: { at: /length, duration: iso8601 }   # or clock (1:02:03): seconds
///   room: { at: /room, required: true }            # an item without it is rejected
///   price: { at: /price, default: 0 }              # in place of what is not there or cannot be used
///   views: { at: /views, volatile: true }          # its change makes no changed item
/// next: { url: /next }              # the next page, see below
/// checkpoint: { url: /changes }     # what the next run begins with, to be told of changes only
/// ```
///
/// Other forms:
///
/// ```yaml
/// groups:                           # several kinds of nodes: items to attributes once for each
///   - items: $.talks[*]
///     …
/// kind: { at: /type, entities: { talk: Episode, course: LearningPath } }  # in place of entity
/// identity: [/id, /url, [/title, /date]]  # in place of id: the first that tells the items apart,
///                                   # chosen once for the feed; a list is a hash of its values;
///                                   # in one group only
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
/// Pointers and paths begin with `/` and `$`; those of items start at the item's node, those of
/// `title`, `ttl`, `complete`, `items`, `next` and `checkpoint` at the document. Null is as good as
/// absent. RSS and Atom are read as the JSON view that `FeedView` describes.
///
/// A member of an item counts as read when a pointer or a path leads through it: `/stats/views` reads
/// `stats`. `extra` keeps the others that `known` does not name, those of extensions (`_name`)
/// included, as an object in canonical form (``CanonicalJSON``) of at most 16 KiB; what would make it
/// larger is left out and counted, the first names being taken first. As with what is volatile, its
/// change makes no changed item.
enum FeedMappingFile {
  /// Mappings are written by hand.
  static let bytesMax = 256 << 10

  /// Reads a mapping against the schema that it maps to.
  ///
  /// - Parameter file: The name that errors carry, usually the path.
  /// - Parameter entity: The entity that the feed goes to.
  /// - Parameter isBuiltIn: Passes over attributes that an entity lacks, and does not ask for those
  ///   that it requires.
  /// - Throws: `YAMLError` at the first place that is wrong, with what to write there.
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
