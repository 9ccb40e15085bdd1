import EntityModel
import EntityStore
import FeedDocuments
import Foundation
import HomeFeed
import Testing

@testable import FeedSync

@Suite(.serialized) struct UserStateTests {
  private let items: [HomeFeedText.Item] = [.init("a", 1), .init("b", 1)]

  /// Syncs the items of the fixture with these entries of `user`.
  @discardableResult
  private func sync(
    _ sync: SyncFixture, _ users: String..., items: [HomeFeedText.Item]? = nil
  ) async throws -> SyncReport {
    var page = HomeFeedText(items ?? self.items)
    page.users = users
    sync.serve(.page(page.text))
    return try await sync.sync()
  }

  @Test func theServersUserStateIsAppliedByRevision() async throws {
    try await withSync { fixture async throws in
      let first = try await sync(
        fixture, #"{"id":"a","rev":5,"progress":0.5,"favoriteAt":"2026-11-01T00:00:00Z"}"#)
      #expect(first.userValues == 2)
      #expect(try fixture.episode("a")?.progress == 0.5)
      #expect(try fixture.episode("a")?.favoriteAt == DateText.rfc3339("2026-11-01T00:00:00Z"))
      #expect(try await sync(fixture, #"{"id":"a","rev":4,"progress":0.1}"#).userValues == 0)
      #expect(try await sync(fixture, #"{"id":"a","rev":5,"progress":0.1}"#).userValues == 0)
      #expect(try await sync(fixture, #"{"id":"a","rev":6,"progress":1}"#).userValues == 1)
      #expect(try fixture.episode("a")?.progress == 1)
      #expect(try fixture.episode("a")?.favoriteAt != nil, "absence clears nothing")
    }
  }

  @Test func valuesOfTheUserThatAreTooLargeAreLeftOut() async throws {
    try await withSync { fixture async throws in
      let large = String(repeating: "x", count: DocumentLimits.itemBytesMax)
      let report = try await sync(
        fixture, #"{"id":"a","rev":1,"note":"\#(large)"}"#, #"{"id":"b","rev":1,"progress":1}"#)
      #expect(report.userValues == 1 && report.dropped == 1)
      let rejection = try #require(report.rejections.first)
      #expect(rejection.id == "a")
      #expect(rejection.reason.contains("at /user/0: must be at most 4194304 bytes"))
    }
  }

  @Test func onlyApplicablePendingEntriesAreKept() async throws {
    try await withSync { fixture async throws in
      try await sync(fixture, #"{"id":"later","rev":1,"progress":0.5,"rumor":"x"}"#)
      let states = try fixture.store.read { try $0.fetch(FetchRequest(entityName: "_UserState")) }
      guard case .data(let data)? = try states.first?["values"] else {
        Issue.record("nothing waits")
        return
      }
      let text = String(decoding: data, as: UTF8.self)
      #expect(text.contains("progress") && !text.contains("rumor"))
    }
  }

  @Test func anExplicitNullClears() async throws {
    try await withSync { fixture async throws in
      let date = "2026-11-01T00:00:00Z"
      try await sync(fixture, #"{"id":"a","rev":1,"progress":0.5,"watchedAt":"\#(date)"}"#)
      try await sync(fixture, #"{"id":"a","rev":2,"progress":null,"watchedAt":null}"#)
      #expect(try fixture.episode("a")?.progress == 0)
      #expect(try fixture.episode("a")?.watchedAt == nil)
    }
  }

  @Test func laterLocalChangesAreKept() async throws {
    try await withSync { fixture async throws in
      try await sync(fixture, #"{"id":"a","rev":1,"progress":0.5}"#)
      try await fixture.edit("a") { $0.progress = 0.7 }
      for rev in 2...3 {
        let date = "2026-11-0\(rev)T00:00:00Z"
        try await sync(
          fixture, #"{"id":"a","rev":\#(rev),"progress":0.6,"watchLaterAt":"\#(date)"}"#)
        #expect(try fixture.episode("a")?.progress == 0.7)
      }
      #expect(try fixture.episode("a")?.watchLaterAt == DateText.rfc3339("2026-11-03T00:00:00Z"))
      // The server has learned of it, and changes it after that.
      try await sync(fixture, #"{"id":"a","rev":4,"progress":0.7}"#)
      try await sync(fixture, #"{"id":"a","rev":5,"progress":0.8}"#)
      #expect(try fixture.episode("a")?.progress == 0.8)
    }
  }

  @Test func localValuesBeforeTheFirstServerValueAreKept() async throws {
    try await withSync { fixture async throws in
      try await sync(fixture)
      try await fixture.edit("a") { $0.progress = 0.7 }
      try await sync(fixture, #"{"id":"a","rev":1,"progress":0.2}"#)
      #expect(try fixture.episode("a")?.progress == 0.7)
    }
  }

  @Test func anEntryForAnUnknownItemWaitsForIt() async throws {
    try await withSync { fixture async throws in
      try await sync(fixture, #"{"id":"c","rev":1,"progress":0.2}"#)
      try await sync(fixture, #"{"id":"c","rev":2,"watchedAt":"2026-11-01T00:00:00Z"}"#)
      let report = try await sync(fixture, items: items + [.init("c", 1)])
      #expect(report.userValues == 2)
      #expect(try fixture.episode("c")?.progress == 0.2)
      #expect(try fixture.episode("c")?.watchedAt == DateText.rfc3339("2026-11-01T00:00:00Z"))
    }
  }

  /// Entries in the order of the items are merged before the insertion, others after it.
  @Test func entriesOfNewItemsApplyInAnyOrder() async throws {
    let items = (0..<6).map { HomeFeedText.Item("i\($0)", 1) }
    let entries = [
      #"{"id":"i0","rev":1,"progress":0.5,"watchedAt":"2026-11-01T00:00:00Z"}"#,
      #"{"id":"i2","rev":2,"progress":7,"title":"x"}"#, #"{"id":"i3","rev":3,"progress":0}"#,
      #"{"id":"i3","rev":4,"progress":0.25}"#, #"{"id":"other","rev":5,"progress":0.1}"#,
      #"{"id":"i5","rev":6,"progress":1}"#,
    ]
    var expected: (progress: [Double?], states: [String], values: Int)?
    var orders = [entries, entries.reversed()]
    orders.append([entries[5]] + entries[..<5])
    for order in orders {
      try await withSync { fixture async throws in
        var page = HomeFeedText(items)
        page.users = order
        fixture.serve(.page(page.text))
        let report = try await fixture.sync()
        #expect(report.new == 6)
        let progress = try items.map { try fixture.episode($0.id)?.progress }
        let states = try fixture.store.read { transaction in
          try transaction.fetch(FetchRequest(entityName: "_UserState")).map { record in
            try ["itemID", "values", "isPending"].map { try record[$0].text }
              .joined(separator: " ")
          }.sorted()
        }
        // The order of two entries for one item decides which of them is a change.
        let kept = states.filter { !$0.hasPrefix("i3") }
        guard let first = expected else {
          #expect(progress == [0.5, 0, 0, 0.25, 0, 1] && report.userValues == 4)
          expected = (progress, kept, report.userValues)
          return
        }
        #expect(progress == first.progress && kept == first.states)
        #expect(report.userValues == first.values)
      }
    }
  }

  @Test func anEntryOnThePageBeforeItsItemApplies() async throws {
    try await withSync { fixture async throws in
      var page = HomeFeedText(items, next: "?page=1")
      page.users = [#"{"id":"c","rev":1,"progress":0.2}"#]
      fixture.serve(.page(page.text))
      fixture.transport.script(
        SyncFixture.url + "?page=1", .page(HomeFeedText.full(.init("c", 1))))
      try await fixture.sync()
      #expect(try fixture.episode("c")?.progress == 0.2)
    }
  }

  @Test func valuesThatCannotBeHeldChangeNothing() async throws {
    try await withSync { fixture async throws in
      try await sync(fixture, #"{"id":"a","rev":1,"progress":0.5}"#)
      for (rev, value) in ["7", "-1", "\"x\"", "[]", "{}", "true", "1e400"].enumerated() {
        try await sync(fixture, #"{"id":"a","rev":\#(rev + 2),"progress":\#(value),"title":"x"}"#)
        #expect(try fixture.episode("a")?.progress == 0.5, "\(value)")
        #expect(try fixture.episode("a")?.title == "a r1", "the feed's own is not the user's")
      }
    }
  }

  @Test func entriesThatCannotBeReadAreReported() async throws {
    try await withSync { fixture async throws in
      let report = try await sync(
        fixture, #"{"id":"a","rev":"1","progress":0.5}"#, #"{"rev":1}"#, "7",
        #"{"id":"b","rev":1,"progress":0.5}"#)
      #expect(report.dropped == 3 && report.userValues == 1 && report.outcome == .synced)
      #expect(report.rejections.count == 3)
    }
  }

  @Test func theSameEntriesAgainWriteNothing() async throws {
    try await withSync { fixture async throws in
      let entry = #"{"id":"a","rev":1,"progress":0.5}"#
      try await sync(fixture, entry)
      let before = (
        try ContentTrees(fixture.store), try fixture.store.records(of: "_UserState")
      )
      let report = try await sync(fixture, entry, " " + entry)
      #expect(report.outcome == .synced && report.userValues == 0)
      #expect(try ContentTrees(fixture.store) == before.0)
      #expect(try fixture.store.records(of: "_UserState") == before.1)
    }
  }
}
