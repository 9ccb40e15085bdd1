import EntityModel

/// The likely roles of the members of unknown items: first by how many items have a value and how
/// many values differ, and only then by name.
struct MemberRoles {
  let title: [MemberProfile]
  let summary: [MemberProfile]
  let url: [MemberProfile]
  let updated: [MemberProfile]
  let published: [MemberProfile]
  let duration: [MemberProfile]

  /// The maximum number of candidates for a role.
  private static let candidatesMax = 3
  /// The maximum rank distance to the first candidate.
  private static let rankDistanceMax = 25

  init(_ profile: ItemProfile) {
    let members = profile.members
    func named(
      _ names: [String], isVaried: Bool = false, _ fits: (MemberProfile) -> Bool
    ) -> [MemberProfile] {
      Self.best(members, of: profile.items, isVaried: isVaried) { member in
        guard fits(member), let rank = names.firstIndex(of: member.roleName) else { return nil }
        return rank + 3 * member.depth
      }
    }
    title = named(
      ["title", "name", "headline", "displayname", "label", "subject", "caption"], isVaried: true
    ) { $0.isText && ($0.look == nil || $0.look == .html || $0.look == .digits) }
    let titles = title.map(\.tokens)
    summary = named(
      [
        "summary", "description", "abstract", "excerpt", "overview", "subtitle", "teaser",
        "contenttext", "body", "content", "text",
      ], isVaried: true
    ) { $0.isText && ($0.look == nil || $0.look == .html) && !titles.contains($0.tokens) }
    url = named(
      [
        "url", "link", "href", "htmlurl", "permalink", "weburl", "shareurl", "canonicalurl",
        "externalurl", "homepage",
      ], isVaried: true
    ) { $0.look == .url && !$0.isOfPicture }
    updated = named([
      "updatedat", "updated", "modifiedat", "modified", "lastmodified", "datemodified",
      "lastupdated", "changedat", "dateupdated", "editedat",
    ]) { $0.dateForm != nil }
    published = named([
      "publishedat", "published", "datepublished", "publishdate", "pubdate", "videopublishedat",
      "createdat", "created", "datecreated", "releasedate", "firstairdate", "airdate", "postedat",
      "date", "datetime", "timestamp", "time", "starttime",
    ]) { $0.dateForm != nil }
    duration = named([
      "duration", "durationseconds", "durationinseconds", "runtime", "length", "lengthseconds",
    ]) { $0.isNumber || $0.look == .duration || $0.look == .clock }
  }

  /// Returns the first members by coverage, then by variety if the values are to be varied, then by
  /// rank.
  private static func best(
    _ members: [MemberProfile], of items: Int, isVaried: Bool, _ rank: (MemberProfile) -> Int?
  ) -> [MemberProfile] {
    let ranked = members.compactMap { member in
      rank(member).map { rank in
        (member, (member.coverage(of: items), isVaried ? member.repetition : 0, rank))
      }
    }
    let sorted = ranked.sorted { $0.1 < $1.1 }
    guard let first = sorted.first else { return [] }
    return sorted.filter { $0.1.2 <= first.1.2 + rankDistanceMax }.prefix(candidatesMax).map(\.0)
  }
}

extension MemberProfile {
  /// The last name in lower case with its words joined. Languages are skipped.
  var roleName: String { NameWords(namingToken).joined }

  /// The name that describes the member.
  var namingToken: String {
    names.last ?? ""
  }

  /// The names from the item, without languages and elements.
  var names: [String] {
    let names = steps.filter { $0 != .firstElement }.map(\.token).filter { !Self.isLanguage($0) }
    return names.isEmpty ? tokens : names
  }

  var depth: Int { steps.count - 1 }

  /// 0 if nearly all items have a value, 1 if half of them have, 2 for fewer.
  fileprivate func coverage(of items: Int) -> Int {
    if values.count * 10 >= items * 9 { return 0 }
    return values.count * 2 >= items ? 1 : 2
  }

  /// 1 if at most half of the values differ, as for what several items belong to; otherwise 0.
  fileprivate var repetition: Int {
    values.count > 1 && different * 2 <= values.count ? 1 : 0
  }

  /// Returns true for names such as `en-US`. Two letters alone are not enough.
  private static func isLanguage(_ token: String) -> Bool {
    token.wholeMatch(of: /[a-z]{2}[-_][A-Z]{2}/) != nil
  }

  var isOfPicture: Bool {
    let words = Set(tokens.flatMap { NameWords($0).words })
    return !words.isDisjoint(with: [
      "image", "images", "thumbnail", "thumbnails", "icon", "avatar", "poster", "picture", "logo",
    ])
  }

  /// The date form for a mapping; nil if the values are no dates. A mapping names no form for dates
  /// that are read without one, as for RFC 3339.
  var dateForm: Conversion.DateForm? {
    switch look {
    case .date, .feedDate: .rfc3339
    case .looseDate where isReadAsDates, .mailDate where isReadAsDates: .rfc3339
    case .looseDate: .iso8601
    case .mailDate: .rfc822
    case .epochSeconds: .unixSeconds
    case .epochMilliseconds: .unixMilliseconds
    default: nil
    }
  }
}
