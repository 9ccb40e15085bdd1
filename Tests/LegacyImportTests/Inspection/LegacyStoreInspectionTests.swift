import EntityModel
import Foundation
import LegacyImport
import TestSupport
import Testing

@Suite(.enabled(if: LegacyStores.isHere, "needs ../shared/legacy-stores beside the package"))
struct LegacyStoreInspectionTests {
  private static func inspected<R>(
    _ path: String, _ body: (SuggestedImport) throws -> R
  ) throws -> R {
    try withTemporaryFolder { folder in
      let database = try SourceDatabase(SourceSnapshot.take(of: path, in: folder.path))
      let suggestion = try PlainInspection.suggestedImport(of: database, name: "import")
      try requireConsistent(suggestion, database)
      return try body(suggestion)
    }
  }

  private static func store(_ name: String) -> String { LegacyStores.path("stores/" + name) }

  @Test(
    arguments: [
      (
        "chrome-cookies/cookies.db",
        [
          "cookies.creation_utc webKitMicroseconds", "cookies.expires_utc webKitMicroseconds",
          "cookies.last_access_utc webKitMicroseconds",
        ]
      ),
      (
        "firefox-places/places.sqlite",
        [
          "moz_bookmarks.dateAdded unixMicroseconds", "moz_bookmarks.lastModified unixMicroseconds",
          "moz_favicons.expiration unixMicroseconds",
          "moz_historyvisits.visit_date unixMicroseconds",
          "moz_items_annos.dateAdded unixMicroseconds",
          "moz_items_annos.lastModified unixMicroseconds",
          "moz_places.last_visit_date unixMicroseconds",
        ]
      ),
      (
        "safari-history/History.db",
        [
          "history_client_versions.last_seen coreDataSeconds",
          "history_event_listeners.last_seen coreDataSeconds",
          "history_tombstones.end_time coreDataSeconds",
          "history_tombstones.start_time coreDataSeconds?",
          "history_visits.visit_time coreDataSeconds",
        ]
      ),
      (
        "kodi-myvideos/MyVideos107.db",
        ["files.lastPlayed iso8601?"]
      ),
      (
        "liferea/liferea.db",
        ["items.date unixSeconds?"]
      ),
      (
        "newsboat/cache.db",
        ["rss_feed.lastmodified unixSeconds", "rss_item.pubDate wrappedUnixSeconds"]
      ),
      (
        "gpodder/Database",
        [
          "episode.current_position_updated unixSeconds", "episode.last_playback unixSeconds",
          "episode.published unixSeconds", "podcast.http_last_modified rfc822",
        ]
      ),
      ("grdb-issue1383/Issue1383.sqlite", []),
      ("sqliteswift-test/test.sqlite", []),
      ("plaso-wal/wal_database.db", []),
      ("liferea-webkit-itp/observations.db", []),
    ] as [(String, [String])])
  func datesAreRecognized(store: String, dates: [String]) throws {
    let found = try Self.inspected(Self.store(store)) { suggestion in
      suggestion.mapping.entities.flatMap(Self.dates)
    }
    #expect(found.sorted() == dates)
  }

  @Test(
    arguments: [
      ("chrome-cookies/cookies.db", []),
      (
        "firefox-places/places.sqlite",
        [
          "moz_bookmarks.parent moz_bookmarks", "moz_historyvisits.place moz_places",
          "moz_items_annos.annoAttribute moz_anno_attributes", "moz_places.favicon moz_favicons",
        ]
      ),
      (
        "safari-history/History.db",
        [
          "history_visits.historyItem history_items",
          "history_visits.redirectDestination history_visits",
          "history_visits.redirectSource history_visits",
        ]
      ),
      (
        "kodi-myvideos/MyVideos107.db",
        [
          "bookmark.file files", "files.path path", "settings.file files",
          "streamdetails.file files",
        ]
      ),
      (
        "liferea/liferea.db",
        [
          "items.node node", "items.parentNode node", "metadata.item items",
          "search_folder_items.item items", "search_folder_items.node node",
          "search_folder_items.parentNode node", "subscription.node node",
          "subscription_metadata.node node",
        ]
      ), ("newsboat/cache.db", ["rss_item.feed rss_feed"]),
      ("gpodder/Database", ["episode.podcast podcast"]),
    ] as [(String, [String])])
  func referencesAreRecognized(store: String, references: [String]) throws {
    let found = try Self.inspected(Self.store(store)) { suggestion in
      suggestion.mapping.entities.flatMap { entity in
        entity.relationships.map { "\(entity.table).\($0.relationship) \($0.table)" }
      }
    }
    #expect(found.sorted() == references)
  }

  /// Returns `TABLE.COLUMN FORM` of each date, with a question mark if it must be confirmed.
  private static func dates(of entity: EntityMapping) -> [String] {
    entity.attributes.compactMap { attribute in
      guard case .column(let column) = attribute.source, let form = attribute.conversion.date else {
        return nil
      }
      return "\(entity.table).\(column) \(form.rawValue)"
        + (attribute.unconfirmed == nil ? "" : "?")
    }
  }

  @Test("No variant ends in a crash", arguments: LegacyStores.files(below: "variants"))
  func variant(path: String) throws {
    if [".json", ".tsv", "-wal", "-shm", "-journal"].contains(where: path.hasSuffix) { return }
    do {
      try Self.inspected(path) { _ in }
    } catch let error as ImportError {
      #expect(!error.description.contains("\n"))
    }
  }
}
