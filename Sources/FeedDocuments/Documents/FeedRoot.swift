/// The root of a feed document. Members are read when they are asked for.
struct FeedRoot {
  let document: JSONDocument
  /// Members by name; if a name occurs twice, the last one wins.
  private let members: [String: JSONMember]
  init(_ document: JSONDocument) throws(DocumentError) {
    self.document = document
    members = Dictionary(document.members.map { ($0.name, $0) }) { _, last in last }
  }

  subscript(name: String) -> JSONMember? { members[name] }

  /// Returns the number of members that the format does not define. Their values are not read. A
  /// name that begins with "_" is an extension and counts as defined.
  func unknownMembers(known: Set<String>) -> Int {
    members.keys.count { !known.contains($0) && !$0.hasPrefix("_") }
  }

  /// Returns the member's string; nil if it is absent or of another kind.
  func string(_ name: String) throws(DocumentError) -> String? {
    try read(name) { $0.string }
  }

  /// Returns the result of `body` for the member's value; nil if it is absent.
  func read<Value>(
    _ name: String, _ body: (JSONValue) throws(DocumentError) -> Value?
  ) throws(DocumentError) -> Value? {
    guard let member = members[name] else { return nil }
    return try document.withValue(of: member, body)
  }

  /// Returns the converted value of a required member.
  ///
  /// - Throws: `.missingMember`, or `.invalidMember` if `convert` returns nil.
  func require<Value>(
    _ name: String, _ expectation: String, _ convert: (JSONValue) -> Value?
  ) throws(DocumentError) -> Value {
    guard members[name] != nil else { throw DocumentError(.missingMember, at: "/\(name)") }
    guard let value = try read(name, convert) else {
      throw DocumentError(.invalidMember, at: "/\(name)", detail: "must be \(expectation)")
    }
    return value
  }

  /// Returns the converted value of an optional member; nil if it is absent or null.
  ///
  /// - Throws: `.invalidMember` if `convert` returns nil for any other value.
  func allow<Value>(
    _ name: String, _ expectation: String, _ convert: (JSONValue) -> Value?
  ) throws(DocumentError) -> Value? {
    guard members[name] != nil else { return nil }
    var isNull = false
    let value = try read(name) { value -> Value? in
      isNull = value.isNull
      return isNull ? nil : convert(value)
    }
    if value == nil, !isNull {
      throw DocumentError(.invalidMember, at: "/\(name)", detail: "must be \(expectation)")
    }
    return value
  }

  /// Returns the converted value of a member that is not essential. A value of the wrong kind
  /// counts as absent and is added to `dropped`.
  func optional<Value>(
    _ name: String, dropped: inout Int, _ convert: (JSONValue) -> Value?
  ) throws(DocumentError) -> Value? {
    do {
      return try allow(name, "", convert)
    } catch  where error.code == .invalidMember {
      dropped += 1
      return nil
    }
  }

  /// Reads the entries of an array; returns none if it is absent or null. An error of `body`
  /// rejects only that entry.
  func entries<Entry>(
    of name: String, _ body: (JSONValue) throws(DocumentError) -> Entry
  ) throws(DocumentError) -> (accepted: [Entry], rejected: [RejectedItem]) {
    guard let member = members[name], !document.begins(member, with: "n") else { return ([], []) }
    guard document.begins(member, with: "[") else {
      throw DocumentError(.invalidMember, at: member.location, detail: "must be an array")
    }
    var accepted: [Entry] = []
    var rejected: [RejectedItem] = []
    accepted.reserveCapacity(member.elementIndices.count)
    for index in member.elementIndices {
      var id: String?
      do {
        let entry = try document.withElement(index, of: member) { value throws(DocumentError) in
          do throws(DocumentError) {
            return try body(value)
          } catch {
            id = value["id"]?.string.map { String($0.prefix(512)) }
            throw error
          }
        }
        accepted.append(entry)
      } catch {
        if error.code == .outOfMemory { throw error }
        var reason = error
        if !reason.location.hasPrefix(member.location) {
          reason.location = "\(member.location)/\(index)\(reason.location)"
        }
        rejected.append(RejectedItem(index: index, id: id, reason: reason))
      }
    }
    return (accepted, rejected)
  }

  /// Describes the document for the error that its format is unknown.
  func describeFormat() throws(DocumentError) -> String {
    if let format = try string("format") { return "found format \"\(format.prefix(60))\"" }
    if let version = try string("version") { return "found version \"\(version.prefix(60))\"" }
    let names = document.members.prefix(8).map { $0.name.prefix(60).debugDescription }
    let list = names.isEmpty ? "no members" : names.joined(separator: ", ")
    return "found a JSON object with \(list)"
  }
}
