/// What a URL gives, and how a mapping could read it.
///
/// Texts are the server's, cut but not made safe for a terminal. The keys of the JSON are stable;
/// what is nil is left out.
package struct FeedInspection: Sendable, Encodable {
  package struct Redirect: Sendable, Encodable {
    package let status: Int
    package let to: String
  }

  /// A place in the items.
  package struct Member: Sendable, Encodable {
    package let pointer: String
    /// Items that have something other than null there, of those that were looked at.
    package let present: Int
    package let types: [String]
    /// Such as `URL` and `RFC 3339 date`; `nil` for no form of its own.
    package let looksLike: String?
    package let isUnique: Bool
    package let example: String?
  }

  /// Pointers by what they are likely to be, the likeliest first.
  package struct Candidates: Sendable, Encodable {
    package var id: [String] = []
    package var title: [String] = []
    package var summary: [String] = []
    package var url: [String] = []
    package var updatedAt: [String] = []
    package var publishedAt: [String] = []
  }

  package var url: String
  package var finalURL: String
  package var redirects: [Redirect]
  package var status: Int
  package var contentType: String?
  package var etag: String?
  package var lastModified: String?
  /// How long the answer stays good, by its headers and the document; nil when they do not say.
  package var freshForSeconds: Int64?
  package var format: String
  package var encoding: String
  package var title: String?
  /// Of the document, decoded.
  package var bytes: Int
  /// Headers and body as they came over the wire.
  package var wireBytes: Int
  package var items: Int
  /// The JSONPath of the items.
  package var path: String?
  package var otherPaths: [String]
  package var itemsLookedAt: Int
  package var members: [Member]
  /// Whether there are members beyond those that are listed.
  package var hasMoreMembers: Bool
  package var candidates: Candidates
  /// As a mapping has it; nil where none was found.
  package var next: String?
  package var checkpoint: String?
  /// The name of the mapping that reads the format without being asked.
  package var builtIn: String?
  package var name: String
  package var entity: String
  /// With comments in place of what the migration makes; nil when none can be suggested.
  package var mapping: String?
  /// With what the migration makes.
  package var wholeMapping: String?
  /// Makes what the entity lacks; nil if it lacks nothing.
  package var migration: String?
  /// Attributes that the migration makes.
  package var newAttributes: [String]
  /// What a person must settle, each on one line.
  package var unconfirmed: [String]
  package var notes: [String]
}
