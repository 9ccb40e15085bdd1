import EntityModel
import EntityStore
import FeedDocuments
import Foundation
import TestSupport
import Testing

@testable import FeedSync

/// The same pages in another order, reversed, with items twice: the same state.
@Suite(.serialized) struct PageOrderTests {
  private static let mapping = """
    mapping: m
    mode: full
    items: $.items[*]
    id: /id
    revision: /rev
    updatedAt: /changed
    deletedAt: /gone
    attributes: { title: /title }
    next: /next
    """

  @Test(arguments: [1, 2, 3, 4, 5, 6, 7, 8] as [UInt64], [true, false])
  func theOrderOfPagesAndItemsDoesNotMatter(_ seed: UInt64, _ hasRevisions: Bool) async throws {
    var random = SeededRandom(seed: seed)
    let items = Self.items(hasRevisions, &random)
    var states: [[String]] = []
    for order in 0..<3 {
      var items = items
      if order == 1 { items.reverse() }
      if order == 2 { items.shuffle(using: &random) }
      let pages = items.split(size: 20 + Int(random.next() % 100))
      states.append(try await state(after: pages, repeating: order == 2))
    }
    #expect(states[0] == states[1], "seed \(seed)")
    #expect(states[0] == states[2], "seed \(seed)")
  }

  /// Many copies of few items; every date and every revision more than once.
  private static func items(_ hasRevisions: Bool, _ random: inout SeededRandom) -> [String] {
    (0..<2_400).map { number in
      let hour = 10 + Int(random.next() % 9)
      var members = [
        "\"id\":\"\(random.next() % 500)\"", "\"title\":\"t\(number % 7)\"",
        "\"changed\":\"2026-11-01T\(hour):00:00Z\"",
      ]
      if hasRevisions { members.append("\"rev\":\(random.next() % 5)") }
      if random.next() % 6 == 0 { members.append("\"gone\":\"2026-11-01T\(hour):30:00Z\"") }
      return "{" + members.joined(separator: ",") + "}"
    }
  }

  private func state(after pages: [[String]], repeating: Bool) async throws -> [String] {
    var state: [String] = []
    try await withSync { sync async throws in
      try await Feeds(sync.store).add(
        SyncFixture.url, .init(mapping: FeedMappingText(Self.mapping, file: "m")))
      for (number, page) in pages.enumerated() {
        let next = number + 1 < pages.count ? ",\"next\":\"?p=\(number + 1)\"" : ""
        // The first items of the page before once more, as offset paging has them.
        let more = repeating && number > 0 ? Array(pages[number - 1].prefix(3)) : []
        sync.transport.script(
          SyncFixture.url + (number == 0 ? "" : "?p=\(number)"),
          .page("{\"items\":[\((page + more).joined(separator: ","))]\(next)}"))
      }
      try await sync.sync()
      state = try sync.store.contentDump()
    }
    return state
  }
}

extension [String] {
  fileprivate func split(size: Int) -> [[String]] {
    stride(from: 0, to: count, by: size).map { Array(self[$0..<Swift.min($0 + size, count)]) }
  }
}
