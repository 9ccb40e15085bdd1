/// The reason why a document or one item cannot be used.
package struct DocumentError: Error, Equatable, Sendable {
  package enum Code: String, Sendable {
    // The text is not JSON, or not whole.
    case empty, notAnObject, truncated, trailingContent, misplacedToken, controlCharacter
    case tooLarge
    // A value is damaged.
    case invalidString, invalidNumber, invalidLiteral, invalidUTF8, tooDeep
    // The document is not a feed, or breaks the feed's rules.
    case unknownFormat, unknownJSON, htmlPage, missingMember, invalidMember
    // The document has items, but none in a place where they can be read.
    case misplacedItems
    // The feed's mapping no longer fits the store.
    case invalidMapping
    case outOfMemory
  }

  package var code: Code
  /// JSON Pointer (RFC 6901) of the faulty value; empty for the whole document.
  package var location: String
  /// The byte offset of the fault in the document, if it is known.
  package var offset: Int?
  /// The value found or expected, if the summary does not say it.
  package var detail: String?

  package init(_ code: Code, at location: String = "", offset: Int? = nil, detail: String? = nil) {
    self.code = code
    self.location = location
    self.offset = offset
    self.detail = detail
  }

  /// True if the document is of another kind than feeds in XML, so that no repair makes it one.
  var isOtherFormat: Bool { code == .unknownFormat || code == .htmlPage }

  /// The kind of failure, in words that do not depend on the document.
  package var summary: String {
    switch code {
    case .empty: "the document is empty"
    case .notAnObject: "the document is not a JSON object"
    case .truncated: "the document ends too early"
    case .trailingContent: "something follows the end of the document"
    case .misplacedToken: "the document is not well-formed JSON"
    case .controlCharacter: "a string contains a bare control character"
    case .tooLarge: "the document is too large"
    case .invalidString: "a string has an invalid escape"
    case .invalidNumber: "a number is not written as JSON writes numbers"
    case .invalidLiteral: "a value is neither true, false, null nor any other JSON value"
    case .invalidUTF8: "the text is not valid UTF-8"
    case .tooDeep: "a value is nested too deeply"
    case .unknownFormat, .unknownJSON: "the document is not a feed that can be read"
    case .htmlPage: "the document is an HTML page, not a feed"
    case .misplacedItems: "the document has items, but none in a place where a feed has them"
    case .missingMember: "a required member is missing"
    case .invalidMember: "a member has a value that the format does not allow"
    case .invalidMapping: "the feed's mapping cannot be used"
    case .outOfMemory: "not enough memory to read the document"
    }
  }

  /// A suggestion how to correct the failure.
  package var advice: String {
    switch code {
    case .truncated: "The transfer was cut short or the server wrote half a file: fetch it again."
    case .empty: "Check the feed's URL; if it is right, try again later."
    case .unknownFormat:
      "Check the feed's URL: it must serve RSS, Atom, JSON Feed or homefeed/1."
    case .htmlPage: "Give the feed's own URL (`mooring feed add FEED`)."
    case .unknownJSON, .notAnObject:
      "Check the feed's URL. JSON of another form needs a mapping: `mooring feed inspect URL` "
        + "suggests one for `mooring feed add URL --mapping FILE`."
    case .invalidMapping: "Give a new one with `mooring feed add URL --mapping FILE`."
    case .tooLarge where detail?.contains("XML") != true:
      "Ask the server for smaller pages, if it has a parameter for that (such as limit=200)."
    case .outOfMemory: "Try again when more memory is free."
    default: "The feed's publisher must correct the document."
    }
  }
}

extension DocumentError: CustomStringConvertible {
  package var description: String {
    var text = summary
    if !location.isEmpty { text += " at \(location)" }
    if let offset { text += " (byte \(offset))" }
    if let detail { text += ": \(detail)" }
    return text
  }
}
