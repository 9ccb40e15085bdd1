import FeedDocuments

/// The members that a suggested mapping identifies items by.
struct IdentityChoice {
  let members: [MemberProfile]
  /// True if the id is a hash of all values, false if it is the first one that an item has.
  let isHash: Bool
  let count: IdentityCount

  var evidence: IdentityEvidence { members.compactMap(\.identityEvidence).max() ?? .unlikely }

  /// True if a member looks like an id.
  fileprivate var hasNamedMember: Bool {
    members.compactMap(\.identityEvidence).contains(where: \.isNamed)
  }
}

/// Finds what identifies the items of a document: first by how many items have a value and how
/// many values are different, over all items, and only then by form and name.
///
/// A single member is best, or members of one object of which each item has one; otherwise a hash
/// of two members, or of up to four. At most 12 members take part in hashes, which are tried with
/// the first 20,000 items and counted over all items eight times at most: O(n log n) for n items.
struct IdentitySearch {
  /// The choice; nil if nothing distinguishes at least nine of ten items.
  private(set) var choice: IdentityChoice?
  /// The pointers that are likely ids, the likeliest first.
  private(set) var likely: [String] = []
  /// Members that look like ids and are none, with the reason.
  private(set) var refused: [String] = []

  private let items: Int
  /// The members that can be part of an id.
  private let rated: [(member: MemberProfile, evidence: IdentityEvidence)]
  /// The members that can be ids, the likeliest first.
  private var candidates: [Candidate] = []

  private struct Candidate {
    let members: [MemberProfile]
    let evidence: IdentityEvidence
    let namePlace: Int
    let count: IdentityCount

    var isPerfect: Bool { count.lost == 0 }
    var choice: IdentityChoice { IdentityChoice(members: members, isHash: false, count: count) }

    func isBefore(_ other: Candidate) -> Bool {
      let first = members[0]
      let second = other.members[0]
      return (
        other.count.present, count.lost, evidence.rawValue, namePlace, members.count, first.depth
      ) < (
        count.present, other.count.lost, other.evidence.rawValue, other.namePlace,
        other.members.count, second.depth
      )
    }
  }

  private static let likelyMax = 3
  private static let refusedMax = 4
  private static let partsMax = 12
  private static let hashedMax = 4
  private static let triedItemsMax = 20_000
  private static let countsMax = 8
  private static let siblingsMax = 8

  /// - Parameter lengthMax: The maximum length of an id; nil if any can be stored.
  init(_ profile: ItemProfile, lengthMax: Int?) {
    items = profile.items
    rated = profile.members.compactMap { member in
      member.identityEvidence.map { (member, $0) }
    }
    candidates = rated.filter { $0.member.values.longestBytes <= lengthMax ?? .max }
      .map { candidate([$0.member], $0.evidence) }
    candidates += siblings()
    // The sort is stable: equal candidates stay in the order of the document.
    candidates.sort { $0.isBefore($1) }
    let perfect = candidates.filter(\.isPerfect)
    choice = perfect.first { $0.evidence <= .text }?.choice
    if choice == nil {
      // Numbers and dates can differ by chance, and a hash with an id in it cannot change more.
      let hashed = hash(of: parts(upTo: .element))
      choice =
        hashed.flatMap { $0.hasNamedMember ? $0 : nil }
        ?? perfect.first { $0.evidence < .unlikely }?.choice ?? hashed
        ?? perfect.first?.choice ?? hash(of: parts(upTo: .unlikely)) ?? best
    }
    likely = Array(likelyPointers.prefix(Self.likelyMax))
    refused = Array(refusals.prefix(Self.refusedMax))
  }

  private func candidate(
    _ members: [MemberProfile], _ evidence: IdentityEvidence
  ) -> Candidate {
    Candidate(
      members: members, evidence: evidence, namePlace: members[0].idNamePlace,
      count: members.count == 1
        ? IdentityCount(
          members[0].values, different: members[0].different, items: items)
        : IdentityCount(firstOf: members.map(\.values), items: items))
  }

  /// Returns members of one object that replace each other: `id.videoId` of some items and
  /// `id.channelId` of others.
  private func siblings() -> [Candidate] {
    let partial = candidates.filter { candidate in
      [.group, .suffix].contains(candidate.evidence) && candidate.count.present < items
    }
    let groups = Dictionary(grouping: partial) { $0.members[0].tokens.dropLast() }
      .values.filter { $0.count > 1 }
      .map { group in group.sorted { $0.isBefore($1) }.prefix(Self.siblingsMax) }
      .sorted { $0[0].members[0].pointer < $1[0].members[0].pointer }
    return groups.prefix(Self.siblingsMax).map { group in
      candidate(group.map { $0.members[0] }, group[0].evidence)
    }
  }

  // MARK: Hashes

  /// Returns the members that a hash can be made of, the best ones first.
  private func parts(upTo evidence: IdentityEvidence) -> [MemberProfile] {
    let varied = rated.filter { part in
      part.evidence <= evidence
        && (part.member.different > 1 || part.member.values.count < items)
    }
    let ranked = varied.sorted { one, other in
      (one.evidence.rawValue, -one.member.values.count, one.member.depth)
        < (other.evidence.rawValue, -other.member.values.count, other.member.depth)
    }
    return ranked.prefix(Self.partsMax).map(\.member)
  }

  /// Returns the first two members, or else up to four, whose values together are different for all
  /// items.
  private func hash(of parts: [MemberProfile]) -> IdentityChoice? {
    let tried = min(items, Self.triedItemsMax)
    let pairs = parts.indices.flatMap { second in parts[..<second].indices.map { ($0, second) } }
      .sorted { ($0.0 + $0.1, $0.0) < ($1.0 + $1.1, $1.0) }
    var counts = 0
    for (first, second) in pairs where counts < Self.countsMax {
      let members = [parts[first], parts[second]]
      guard IdentityCount(hashOf: members.map(\.values), items: tried).lost == 0 else { continue }
      counts += 1
      let choice = counted(members)
      if choice.count.lost == 0 { return choice }
    }
    return widest(of: parts).flatMap { $0.count.lost == 0 ? $0 : nil }
  }

  /// Returns the members that distinguish the most items, each one added for being the best.
  private func widest(of parts: [MemberProfile]) -> IdentityChoice? {
    let tried = min(items, Self.triedItemsMax)
    var chosen: [MemberProfile] = []
    var most = 0
    while chosen.count < Self.hashedMax {
      let counts = parts.map { part in
        IdentityCount(hashOf: (chosen + [part]).map(\.values), items: tried).different
      }
      guard let next = counts.max(), next > most, let place = counts.firstIndex(of: next) else {
        break
      }
      most = next
      chosen.append(parts[place])
    }
    return chosen.count > 1 ? counted(chosen) : nil
  }

  private func counted(_ members: [MemberProfile]) -> IdentityChoice {
    IdentityChoice(
      members: members, isHash: true,
      count: IdentityCount(hashOf: members.map(\.values), items: items))
  }

  /// The choice that loses the fewest items, if these are at most one in ten.
  private var best: IdentityChoice? {
    let single = candidates.min { $0.count.lost < $1.count.lost }?.choice
    let hashed = widest(of: parts(upTo: .unlikely))
    let choices = [single, hashed].compactMap { $0 }
    return choices.min { $0.count.lost < $1.count.lost }
      .flatMap { $0.count.lost * 10 <= items ? $0 : nil }
  }

  // MARK: Reasons

  private var likelyPointers: [String] {
    guard let choice else { return [] }
    let others = candidates.filter { candidate in
      candidate.isPerfect && candidate.evidence.rawValue <= choice.evidence.rawValue + 2
    }
    let pointers = (choice.members + others.flatMap(\.members)).map(\.pointer)
    return pointers.enumerated().filter { !pointers[..<$0.offset].contains($0.element) }
      .map(\.element)
  }

  private var refusals: [String] {
    let chosen = choice?.members.map(\.pointer) ?? []
    let imperfect = candidates.filter { !$0.isPerfect && $0.members.count == 1 }
    let named = imperfect.filter { candidate in
      candidate.evidence.isNamed && candidate.evidence <= choice?.evidence ?? .inner
    }
    let shown = named.isEmpty && choice == nil ? imperfect : named
    return shown.sorted { $0.evidence < $1.evidence }.map(\.members[0])
      .filter { !chosen.contains($0.pointer) }
      .map { "\($0.pointer): \(reason($0))" }
  }

  private func reason(_ member: MemberProfile) -> String {
    let present = member.values.count
    let have = "\(present) of \(items) items have it"
    let values = "\(member.different) different value\(member.different == 1 ? "" : "s")"
    if member.different == present { return have }
    return present == items ? "\(values) in \(present) items" : "\(have), \(values)"
  }
}
