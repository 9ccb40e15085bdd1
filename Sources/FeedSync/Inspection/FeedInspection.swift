/// The result of an inspection: the answer of a URL, and a mapping that could read it.
///
/// Texts of the server are shortened but not escaped for a terminal. The keys of the JSON are
/// stable; nil values are left out.
package struct FeedInspection: Sendable, Encodable {
  package struct Redirect: Sendable, Encodable {
    package let status: Int
    package let to: String
  }

  /// A member of the items.
  package struct Member: Sendable, Encodable {
    package let pointer: String
    /// The number of inspected items with a value other than null.
    package let present: Int
    package let types: [String]
    /// A form such as `URL` or `RFC 3339 date`; nil if there is none.
    package let looksLike: String?
    /// The number of different texts and numbers; nil if it has other values only.
    package let different: Int?
    package let isUnique: Bool
    package let example: String?
  }

  /// The members that identify the items in the suggested mapping.
  package struct Identity: Sendable, Encodable {
    package let pointers: [String]
    /// True if the id is a hash of all values, false if it is the first one that an item has.
    package let isHash: Bool
    /// The number of inspected items that have it.
    package let present: Int
    /// The number of different ids.
    package let different: Int
    package let reason: String

    /// The pointers and the reason on one line.
    package var text: String {
      let pointers = pointers.joined(separator: isHash ? " and " : " or ")
      return "\(isHash ? "hash of " : "")\(pointers), \(reason)"
    }
  }

  /// The pointers that are likely to have a role, the likeliest first.
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
  /// The seconds for which the answer stays fresh, by its headers and the document; nil if unknown.
  package var freshForSeconds: Int64?
  package var format: String
  package var encoding: String
  package var title: String?
  /// The bytes of the decoded document.
  package var bytes: Int
  /// The bytes of headers and body as transferred.
  package var wireBytes: Int
  package var items: Int
  /// The JSONPath of the items.
  package var path: String?
  package var otherPaths: [String]
  package var itemsLookedAt: Int
  package var members: [Member]
  /// True if there are more members than listed.
  package var hasMoreMembers: Bool
  package var candidates: Candidates
  /// Nil if nothing identifies the items.
  package var identity: Identity?
  /// Members that look like ids and are none, each with the reason.
  package var notIdentity: [String]
  /// The source of the next page as in a mapping; nil if none was found.
  package var next: String?
  package var checkpoint: String?
  /// The name of the built-in mapping for the format.
  package var builtIn: String?
  package var name: String
  package var entity: String
  /// The suggested mapping, with comments in place of attributes that the migration creates; nil if
  /// none can be suggested.
  package var mapping: String?
  /// The suggested mapping with the attributes that the migration creates.
  package var wholeMapping: String?
  /// The migration that creates the missing attributes; nil if there are none.
  package var migration: String?
  /// The attributes that the migration creates.
  package var newAttributes: [String]
  /// The guesses that the operator must confirm, one line each.
  package var unconfirmed: [String]
  package var notes: [String]
}
