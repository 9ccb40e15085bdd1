import EntityModel
import EntityStore
import FeedDocuments

/// A suggested mapping for items, based on their statistics only.
///
/// A guess that could be wrong has a comment that begins with `unconfirmed`.
struct SuggestedFeedMapping {
  /// A line under `attributes`, with the type of an attribute that has to be created.
  struct Attribute {
    var name: String
    var source: String
    var unconfirmed: String?
    /// The type of an attribute that the entity lacks.
    var newType: AttributeType?
  }

  private(set) var head: [(key: String, value: String, unconfirmed: String?)] = []
  private(set) var attributes: [Attribute] = []
  /// The lines that the operator must confirm before they are used.
  private(set) var proposals: [(key: String, value: String, doubt: String)] = []
  private(set) var known: [String] = []
  /// The line that stores unknown members; nil if the entity uses its name for something else.
  private(set) var extra: Attribute?

  private let entity: EntityDescription?
  let profile: ItemProfile
  private var names: AttributeNames
  /// The members that need no line of their own any more.
  private var used: Set<[String]> = []

  /// The maximum number of attributes created for members without a role.
  private static let newAttributesMax = 16
  private static let knownMax = 64

  /// - Parameter entity: The entity of the items; nil for one that has to be created.
  init(
    _ profile: ItemProfile, path: String, identity: IdentityChoice, paging: PagingGuess,
    entity: EntityDescription?
  ) {
    self.entity = entity
    self.profile = profile
    names = AttributeNames(entity)
    let roles = MemberRoles(profile)
    head.append(("items", Self.quotedPath(path), nil))
    addIdentity(identity)
    addUpdate(roles)
    addRoles(roles)
    addOthers()
    if let next = paging.next { head.append(("next", next, paging.unconfirmed)) }
    if let checkpoint = paging.checkpoint { head.append(("checkpoint", checkpoint, nil)) }
    listKnown()
    extra = Self.extra(in: entity)
  }

  // MARK: The item itself

  private mutating func addIdentity(_ identity: IdentityChoice) {
    let isLasting = identity.members.compactMap(\.identityEvidence).allSatisfy(\.isLasting)
    // A member with more content than an id gets an attribute as well.
    if isLasting, !identity.isHash { identity.members.forEach { used.insert($0.tokens) } }
    let pointers = Self.pointers(identity.members)
    let doubt = identity.doubt ?? (isLasting ? nil : "that it stays the same when an item changes")
    if identity.isHash {
      head.append(("identity", "[\(pointers)]", doubt))
    } else {
      head.append(("id", pointers, doubt))
    }
  }

  private mutating func addUpdate(_ roles: MemberRoles) {
    let isPublished = roles.updated.isEmpty
    guard let first = (isPublished ? roles.published : roles.updated).first else { return }
    if let attribute = entity?.attribute(named: "updatedAt"), attribute.type != .date { return }
    if !isPublished { used.insert(first.tokens) }
    // An item that was never changed may have no date of a change.
    let others = first.present < profile.items ? roles.published.prefix(1) : []
    let members = [first] + others.filter { !isPublished && $0.dateForm == first.dateForm }
    let (source, doubt) = Self.date(members)
    head.append(
      ("updatedAt", source, doubt ?? (isPublished ? "no member says when an item changed" : nil)))
  }

  // MARK: Attributes

  private mutating func addRoles(_ roles: MemberRoles) {
    add("title", .string, Self.filling(roles.title, profile.items)) { (Self.pointers($0), nil) }
    add("summary", .string, Self.filling(roles.summary, 0)) { (Self.pointers($0), nil) }
    add("url", .url, Self.filling(roles.url, 0)) { (Self.pointers($0), nil) }
    add("publishedAt", .date, Self.filling(roles.published, profile.items), Self.date)
    add("duration", .int64, Self.filling(roles.duration, 0)) { Self.seconds($0[0]) }
  }

  /// Returns the first member, and if some items lack it, those that may replace it.
  private static func filling(_ members: [MemberProfile], _ items: Int) -> [MemberProfile] {
    guard let first = members.first else { return [] }
    guard first.present < items else { return [first] }
    return members.filter { $0.look == first.look }
  }

  private mutating func add(
    _ name: String, _ type: AttributeType, _ members: [MemberProfile],
    _ source: ([MemberProfile]) -> (String, String?)
  ) {
    guard !members.isEmpty else { return }
    let existing = entity?.attribute(named: name)
    guard existing == nil ? names.take(new: name) : names.take(existing: name, type) else { return }
    members.forEach { used.insert($0.tokens) }
    let (text, doubt) = source(members)
    attributes.append(
      Attribute(
        name: name, source: text, unconfirmed: doubt, newType: existing == nil ? type : nil))
  }

  /// Maps members to the attributes of the same name, and others to new ones.
  private mutating func addOthers() {
    var made = 0
    for member in profile.members where !used.contains(member.tokens) {
      guard let type = member.attributeType else { continue }
      if let existing = names.takeExisting(for: member, type) {
        addOther(member, existing, newType: nil)
        continue
      }
      if propose(member) { continue }
      // A value that all items share is not worth an attribute.
      guard made < Self.newAttributesMax, !member.isConstant || member.isBool,
        !["etag", "kind", "linktype"].contains(member.roleName)
      else { continue }
      made += 1
      addOther(member, names.takeNew(for: member), newType: type)
    }
  }

  private mutating func addOther(_ member: MemberProfile, _ name: String, newType: AttributeType?) {
    used.insert(member.tokens)
    var (source, doubt) =
      member.dateForm == nil ? (Self.pointers([member]), nil) : Self.date([member])
    if member.isList { source = Self.listPath(member) }
    if member.isWholeNumber, member.countsReaders {
      source = "{ at: \(source), volatile: true }"
    }
    attributes.append(Attribute(name: name, source: source, unconfirmed: doubt, newType: newType))
  }

  /// Proposes a line that would lose changes if it were wrong.
  private mutating func propose(_ member: MemberProfile) -> Bool {
    let source = Self.pointers([member])
    if member.isWholeNumber, ["revision", "rev"].contains(member.roleName) {
      proposals.append(("revision", source, "that it grows with every change"))
    } else if member.isBool, ["deleted", "isdeleted", "removed"].contains(member.roleName) {
      proposals.append(("deleted", source, "that the item is there no more"))
    } else {
      return false
    }
    return true
  }

  static let extraName = "extra"

  /// Returns the line `extra` of a mapping; nil if the entity uses the name for something else.
  static func extra(in entity: EntityDescription?) -> Attribute? {
    guard entity?.relationship(named: extraName) == nil else { return nil }
    guard let existing = entity?.attribute(named: extraName) else {
      return Attribute(name: extraName, source: extraName, newType: .string)
    }
    guard existing.owner == .feed, ExtraAttribute(existing) != nil else { return nil }
    return Attribute(name: extraName, source: extraName, newType: nil)
  }

  /// Lists the members at the top of an item that no line reads, so that only later ones are
  /// reported.
  private mutating func listKnown() {
    let read = Set(used.compactMap(\.first))
    for member in profile.members where known.count < Self.knownMax {
      guard let name = member.tokens.first, !read.contains(name), !known.contains(name) else {
        continue
      }
      known.append(name)
    }
  }
}
