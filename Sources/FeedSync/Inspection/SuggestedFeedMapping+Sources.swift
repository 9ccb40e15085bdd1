import EntityModel
import EntityStore
import SchemaFiles

// Sources of values for a mapping.
extension SuggestedFeedMapping {
  static func pointers(_ members: [MemberProfile]) -> String {
    let texts = members.map { feedMappingScalar($0.pointer) }
    return texts.count == 1 ? texts[0] : "[" + texts.joined(separator: ", ") + "]"
  }

  static func date(_ members: [MemberProfile]) -> (String, String?) {
    guard let first = members.first, let form = first.dateForm else {
      return (pointers(members), nil)
    }
    var keys = ["at: " + pointers(members)]
    if form != .rfc3339 { keys.append("date: \(form.rawValue)") }
    let lacksZone = members.contains { $0.shapes.withoutZone > 0 }
    if form.mayLackZone, lacksZone { keys.append("zone: Z") }
    let doubt: String? =
      switch form {
      case .rfc3339, .iso8601, .rfc822:
        lacksZone ? "that the dates, which name no zone, are of UTC" : nil
      default: "that the numbers are \(first.look?.rawValue ?? "dates")"
      }
    if keys.count == 1 { return (pointers(members), doubt) }
    return ("{ " + keys.joined(separator: ", ") + " }", doubt)
  }

  static func seconds(_ member: MemberProfile) -> (String, String?) {
    let pointer = pointers([member])
    switch member.look {
    case .duration: return ("{ at: \(pointer), duration: iso8601, round: halfEven }", nil)
    case .clock: return ("{ at: \(pointer), duration: clock }", nil)
    default: break
    }
    let round = member.isWholeNumber ? "" : ", round: halfEven"
    if member.roleName == "runtime" {
      return ("{ at: \(pointer), scale: 60\(round) }", "that it is in minutes")
    }
    let doubt = member.roleName.contains("seconds") ? nil : "that it is in seconds"
    return (round.isEmpty ? pointer : "{ at: \(pointer)\(round) }", doubt)
  }

  static func listPath(_ member: MemberProfile) -> String {
    quotedPath("$" + member.steps.map(\.selector).joined() + "[*]")
  }

  static func quotedPath(_ path: String) -> String {
    path.wholeMatch(of: /\$[A-Za-z0-9_.]*\[\*\]/) != nil ? path : ConversionFile.quoted(path)
  }
}

extension MemberProfile {
  /// The type of an attribute for the member; nil if no type fits.
  var attributeType: AttributeType? {
    if dateForm != nil { return .date }
    if isText { return look == .url ? .url : .string }
    if isWholeNumber { return .int64 }
    if isNumber { return .double }
    if isBool { return .bool }
    return isList ? .strings : nil
  }
}

/// Returns a pointer, path or name for a mapping, quoted if it could be misread.
func feedMappingScalar(_ text: String) -> String {
  let isPlain = text.wholeMatch(of: /[\/$A-Za-z_][A-Za-z0-9_\/.$~-]*/) != nil
  let isWord = ["null", "true", "false", "yes", "no", "on", "off", "~"].contains(text.lowercased())
  return isPlain && !isWord ? text : ConversionFile.quoted(text)
}
