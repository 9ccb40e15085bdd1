import EntityModel

/// The likely roles of the members of unknown items, by name, form and frequency.
struct MemberRoles {
  let id: [MemberProfile]
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
    let items = profile.items
    func named(_ names: [String], _ fits: (MemberProfile) -> Bool) -> [MemberProfile] {
      Self.best(members) { member in
        guard fits(member), let rank = names.firstIndex(of: member.roleName) else { return nil }
        return rank + 3 * member.depth
      }
    }
    id = Self.best(members) { Self.rankAsID($0, of: items) }
    title = named(["title", "name", "headline", "displayname", "label", "subject", "caption"]) {
      $0.isText && ($0.look == nil || $0.look == .html || $0.look == .digits)
    }
    let titles = title.map(\.tokens)
    summary = named([
      "summary", "description", "abstract", "excerpt", "overview", "subtitle", "teaser",
      "contenttext", "body", "content", "text",
    ]) { $0.isText && ($0.look == nil || $0.look == .html) && !titles.contains($0.tokens) }
    url = named([
      "url", "link", "href", "htmlurl", "permalink", "weburl", "shareurl", "canonicalurl",
      "externalurl", "homepage",
    ]) { $0.look == .url && !$0.isOfPicture }
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

  /// Returns the rank of the member as an id: the lower, the likelier.
  private static func rankAsID(_ member: MemberProfile, of items: Int) -> Int? {
    guard member.isText || member.isWholeNumber, member.look != .html,
      !["etag", "hash", "checksum", "kind", "type"].contains(member.roleName)
    else { return nil }
    let names = ["id", "guid", "uuid", "key", "objectid", "slug"]
    var rank: Int
    if let place = names.firstIndex(of: member.roleName) {
      rank = place
    } else if member.roleName.hasSuffix("id") {
      rank = 20
    } else if member.look == .url, !member.isOfPicture {
      rank = 30
    } else if member.isText, member.dateForm == nil {
      rank = 90
    } else {
      return nil
    }
    if !member.isUnique { rank += 50 }
    if member.present < items { rank += 50 }
    return rank + 3 * member.depth
  }

  private static func best(
    _ members: [MemberProfile], _ rank: (MemberProfile) -> Int?
  ) -> [MemberProfile] {
    let ranked = members.compactMap { member in rank(member).map { (member, $0) } }
    let sorted = ranked.sorted { $0.1 < $1.1 }
    guard let first = sorted.first else { return [] }
    return sorted.prefix { $0.1 <= first.1 + rankDistanceMax }.prefix(candidatesMax).map(\.0)
  }
}

extension MemberProfile {
  /// The last name in lower case with its words joined. Languages are skipped.
  var roleName: String { NameWords(namingToken).joined }

  /// The name that describes the member.
  var namingToken: String {
    names.last ?? ""
  }

  /// The names from the item, without languages and numbers.
  var names: [String] {
    let names = tokens.filter { $0 != "0" && !Self.isLanguage($0) }
    return names.isEmpty ? tokens : names
  }

  fileprivate var depth: Int { tokens.count - 1 }

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

  /// The date form for a mapping; nil if the values are no dates.
  var dateForm: Conversion.DateForm? {
    switch look {
    case .date: .rfc3339
    case .looseDate: .iso8601
    case .mailDate: .rfc822
    case .epochSeconds: .unixSeconds
    case .epochMilliseconds: .unixMilliseconds
    default: nil
    }
  }
}
