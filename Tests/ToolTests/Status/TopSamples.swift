import DurableJobs
import EntityStore
import FeedSync
import Foundation
import HomeFeed
import TestSupport

@testable import StatusModel
@testable import mooring

/// Runs a body with the status of a store that has feeds with these titles. Feed 2 fails.
func withStatus<R>(
  titles: [String], isolation: isolated (any Actor)? = #isolation,
  _ body: (StoreStatus) throws -> R
) async throws -> R {
  try await withTemporaryStore(seed: 1, migrations: [.feeds, .homeFeed, .jobs]) { temporary in
    let feeds = Feeds(temporary.store)
    let urls = titles.indices.map { "https://host\($0 + 1).example/feed.xml" }
    _ = try await feeds.add(subscriptions: urls.map { Feeds.Subscription($0) }, .init())
    for (index, title) in titles.enumerated() {
      try await feeds.update(Int64(index + 1)) { feed in
        feed.customTitle = title
        if index == 1 {
          feed.errors = 3
          feed.lastError = "no route to \(title): try later"
        }
      }
    }
    return try body(try StatusReader(temporary.store).read())
  }
}

extension StoreStatus {
  /// The status with problems that differ by their number.
  func with(problems count: Int) -> StoreStatus {
    var status = self
    status.problems = (0..<count).map { number in
      Problem(
        severity: number < 2 ? .critical : .warning, section: .jobs,
        summary: "problem \(number) of many", since: at.addingTimeInterval(-7_200),
        advice: "`mooring jobs show \(number)`")
    }
    return status
  }

  func screen(
    _ state: TopState = TopState(), _ columns: Int = 80, _ rows: Int = 24,
    _ palette: TopPalette = .none, notice: String? = nil
  ) -> TopScreen {
    TopScreen(self, state, columns: columns, rows: rows, palette, notice: notice)
  }

  /// The state after keys on a screen of 80 columns and 24 rows. A text is its characters.
  func state(after keys: [TopKey], from start: TopState = TopState()) -> TopState {
    keys.reduce(into: start) { state, key in _ = state.handle(key, on: screen(state)) }
  }
}

func typed(_ text: String) -> [TopKey] { text.map(TopKey.character) }
