import EntityModel

extension Preset {
  /// The preset for newsboat and newsbeuter, whose cache has a table of feeds and one of items.
  static let newsboat = Preset(
    program: "newsboat",
    tables: [
      Table(
        name: "rss_feed", entity: "Feed",
        columns: [
          Column("rssurl", "url"), Column("url", "link"), Column("title", "title"),
          Column("lastmodified", "lastModified", .date, .seconds(.unixSeconds)),
          Column("is_rtl", "isRightToLeft", .bool), Column("etag", "etag"),
        ], references: []),
      Table(
        name: "rss_item", entity: "Item",
        columns: [
          Column("url", "link"),
          // An unsigned column: what is before 1970 is written as if after 2038.
          Column("pubDate", "publishedAt", .date, .seconds(.wrappedUnixSeconds)),
          Column("unread", "isUnread", .bool), Column("deleted", "isDeleted", .bool),
          Column("enqueued", "isEnqueued", .bool), Column("enclosure_url", "enclosureURL"),
          Column("enclosure_type", "enclosureType"), Column("base", "baseURL"),
        ],
        references: [
          ReferenceGuess(columns: ["feedurl"], target: "rss_feed", name: "feed", inverse: "items")
        ]),
    ],
    skippedTables: ["google_replay", "metadata"],
    signature: ["rss_feed": ["rssurl"], "rss_item": ["feedurl", "pubDate", "unread"]])

  /// The preset for gPodder 3, whose database has podcasts and episodes.
  static let gPodder = Preset(
    program: "gPodder",
    tables: [
      Table(
        name: "podcast", entity: "Podcast",
        columns: [
          Column("auto_archive_episodes", "archivesEpisodes", .bool),
          Column("pause_subscription", "isPaused", .bool),
          Column("sync_to_mp3_player", "isSynced", .bool),
          Column("cover_url", "coverURL"), Column("payment_url", "paymentURL"),
          Column("http_etag", "etag"),
        ], references: []),
      Table(
        name: "episode", entity: "Episode",
        columns: [
          Column("published", "publishedAt", .date, .seconds(.unixSeconds)),
          Column(
            "state", "state",
            .enumeration(
              Enumeration(cases: [
                .init(name: "normal", rawValue: 0), .init(name: "downloaded", rawValue: 1),
                .init(name: "deleted", rawValue: 2),
              ]))),
          Column("is_new", "isNew", .bool), Column("archive", "isArchived", .bool),
          Column("total_time", "durationSeconds"), Column("file_size", "fileBytes"),
          Column("current_position", "positionSeconds"),
          Column("current_position_updated", "positionUpdatedAt", .date, .seconds(.unixSeconds)),
          Column("last_playback", "lastPlayedAt", .date, .seconds(.unixSeconds)),
          Column("payment_url", "paymentURL"), Column("episode_art_url", "artworkURL"),
          Column("description_html", "descriptionHTML"),
        ],
        references: [
          ReferenceGuess(
            columns: ["podcast_id"], target: "podcast", name: "podcast", inverse: "episodes")
        ]),
    ],
    skippedTables: ["version"],
    signature: [
      "podcast": ["url", "download_folder"], "episode": ["podcast_id", "guid", "published"],
      "version": ["version"],
    ])
}

extension Conversion {
  /// Returns a conversion of seconds in which zero is no date.
  fileprivate static func seconds(_ form: DateForm) -> Conversion {
    Conversion(nullValues: ["0"], date: form)
  }
}
