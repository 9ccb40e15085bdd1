import EntityModel

/// The reason why a row or a link is not imported. The raw values are stable; those of a
/// `ConversionFailure` are codes, too.
struct Reject: Error, Hashable, Sendable {
  enum Code: String, Sendable, CaseIterable {
    /// A part of the key is null.
    case nullKey = "null_key"
    /// Another row has the same key.
    case duplicateKey = "duplicate_key"
    /// The attribute must have a value.
    case nullRequired = "null_required"
    /// A rule of the attribute is broken.
    case invalid
    /// Another record has the values of a unique index.
    case notUnique = "not_unique"
    case badUTF8 = "bad_utf8"
    /// More bytes than a record can hold.
    case tooLarge = "too_large"
    case externalMissing = "external_missing"
    case externalUnsafe = "external_unsafe"
    case externalUnknown = "external_unknown"
    case archiveRefused = "archive_refused"
    /// A link leads to no row.
    case orphan
    /// The other row of a link was rejected or skipped.
    case rowRejected = "row_rejected"
    /// The other row can have one link only, and an earlier row has it.
    case linkTaken = "link_taken"
    /// The store refuses the link.
    case linkRefused = "link_refused"
  }

  /// The attribute or the relationship, if one is at fault.
  let property: String?
  let code: String
  /// The reason on one line.
  let message: String

  init(_ code: Code, _ property: String?, _ message: String) {
    self.init(code: code.rawValue, property, message)
  }

  init(code: String, _ property: String?, _ message: String) {
    self.property = property
    self.code = code
    self.message = message
  }

  /// The reject of a row that another filter takes now.
  static func otherEntity(_ object: ObjectID) -> Reject {
    Reject(
      .invalid, nil,
      "the row has become \(object) before, which is of another entity; delete that record")
  }

  static func matched(_ object: ObjectID, _ attributes: String) -> Reject {
    Reject(.notUnique, attributes, "another row has already been matched with \(object)")
  }
}
