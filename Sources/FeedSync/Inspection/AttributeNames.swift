import EntityModel
import EntityStore
import FeedDocuments

/// The names of the attributes that a suggested mapping uses, none of them twice and none that the
/// entity uses for something else.
struct AttributeNames {
  private let entity: EntityDescription?
  private var taken = TargetNames()
  /// The attributes of the entity that the mapping fills.
  private var mapped: Set<String> = []

  /// - Parameter entity: The entity of the items; nil for one that has to be created.
  init(_ entity: EntityDescription?) {
    self.entity = entity
    let properties =
      (entity?.attributes ?? []).map(\.name) + (entity?.relationships ?? []).map(\.name)
    for name in FeedTarget.own + ["updatedAt", SuggestedFeedMapping.extraName] + properties {
      taken.take(name)
    }
  }

  /// Takes the name for a new attribute; returns false if it is not free.
  mutating func take(new name: String) -> Bool {
    guard taken.isFree(name) else { return false }
    taken.take(name)
    return true
  }

  /// Takes an attribute of the entity; returns false if it is no attribute of that type for feeds.
  mutating func take(existing name: String, _ type: AttributeType) -> Bool {
    guard let attribute = entity?.attribute(named: name), attribute.owner == .feed,
      attribute.type == type, !attribute.isHidden, !FeedTarget.own.contains(name),
      name != "updatedAt", name != SuggestedFeedMapping.extraName
    else { return false }
    return mapped.insert(name).inserted
  }

  /// Takes the attribute of the entity that has the member's name, however it is capitalized, and
  /// its type; returns nil if there is none.
  mutating func takeExisting(for member: MemberProfile, _ type: AttributeType) -> String? {
    // The picture of an item is not the item's page.
    guard !member.isOfPicture || member.roleName != "url" else { return nil }
    let same = (entity?.attributes ?? []).filter { NameWords($0.name).joined == member.roleName }
    return same.first { take(existing: $0.name, type) }?.name
  }

  /// Takes a free name such as `viewCount`, or with the name before it, `statisticsViewCount`.
  mutating func takeNew(for member: MemberProfile) -> String {
    let short = NameWords(member.namingToken).camelCase
    let long = NameWords(member.names.suffix(3).joined(separator: " ")).camelCase
    if long.isEmpty { return taken.free("", otherwise: "member") }
    let marked = "feed" + NameWords(long).capitalizedCamelCase
    let free = [short, long, marked].first { $0.first?.isLetter == true && taken.isFree($0) }
    return taken.free(free ?? marked, otherwise: "member")
  }
}

extension IdentityChoice {
  /// The fact that the operator must confirm: some items lack an id of their own. nil if none does.
  var doubt: String? {
    let (present, items) = (count.present, count.items)
    if count.lost == 0 { return nil }
    let pointers = members.map(\.pointer).joined(separator: ", ")
    if present < items { return "\(items - present) of \(items) items have no \(pointers)" }
    return "several items have the same \(pointers): \(count.different) different in \(items) items"
  }

  /// The counts that speak for the choice: `in 3 of 3 items, all different`.
  var reason: String {
    let values = count.different == count.present ? "all different" : "\(count.different) different"
    return "in \(count.present) of \(count.items) item\(count.items == 1 ? "" : "s"), \(values)"
  }
}
