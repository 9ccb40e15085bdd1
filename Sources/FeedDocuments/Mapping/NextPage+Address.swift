extension NextPage {
  /// Returns the next page's URL, absolute or relative to this page; nil on the last page. A Link
  /// header is not part of the document: see ``LinkHeader``.
  ///
  /// - Parameter url: The URL of this page.
  /// - Throws: `invalidMember` for a value that is no address, `missingMember` for a missing
  ///   counter.
  func address(in root: JSONValue, of url: String) throws(DocumentError) -> String? {
    switch self {
    case .linkHeader: return nil
    case .archive:
      return try Self.text(at: Self.archivePointers, in: root)
    case .url(let pointers): return try Self.text(at: pointers, in: root)
    case .token(let pointer, let parameter):
      return try Self.text(at: [pointer], in: root).map {
        URLQuery.setting(parameter, to: $0, in: url)
      }
    case .page(let page, let pages, let parameter):
      let number = try Self.number(at: page, in: root)
      guard try number < Self.number(at: pages, in: root) else { return nil }
      return URLQuery.setting(parameter, to: String(number + 1), in: url)
    case .offset(let offset, let limit, let total, let parameter):
      let start = try Self.number(at: offset, in: root)
      let count = try Self.number(at: limit, in: root)
      let end = try Self.number(at: total, in: root)
      let (next, overflow) = start.addingReportingOverflow(count)
      guard !overflow, next < end else { return nil }
      if count == 0 {
        throw DocumentError(
          .invalidMember, at: limit.description, detail: "must not be 0 before the end")
      }
      return URLQuery.setting(parameter, to: String(next), in: url)
    }
  }

  /// Places in the view of Atom and RSS.
  private static let archivePointers = [
    JSONPointer(tokens: ["_feed", "next"]), JSONPointer(tokens: ["_feed", "prev_archive"]),
  ]

  private static func text(
    at pointers: [JSONPointer], in root: JSONValue
  ) throws(DocumentError) -> String? {
    for pointer in pointers {
      guard let value = pointer.value(in: root), !value.isNull else { continue }
      // A token may be a number, and an empty text is what some write on the last page.
      if value.kind == .string, value.textBytes.isEmpty { continue }
      if value.bool == false { continue }
      if let text = IdentityLevel.text(value) { return text }
      throw DocumentError(.invalidMember, at: pointer.description, detail: "must be a text")
    }
    return nil
  }

  private static func number(
    at pointer: JSONPointer, in root: JSONValue
  ) throws(DocumentError) -> Int64 {
    guard let value = pointer.value(in: root) else {
      throw DocumentError(.missingMember, at: pointer.description)
    }
    guard let number = value.int64 ?? value.string.flatMap(Int64.init), number >= 0 else {
      throw DocumentError(
        .invalidMember, at: pointer.description, detail: "must be a whole number from 0")
    }
    return number
  }
}
