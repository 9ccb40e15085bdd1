import EntityModel
public import EntityStore
public import Foundation
public import Migrations

/// The home page as six lists, each served by an index.
///
/// Each load throws on an error and never returns an empty list instead. A `count` of 0 returns no
/// elements, a negative one throws. Loads may be called on any thread and do not wait for a sync.
public struct ContentStore: Sendable {
  public let store: Store

  /// - Parameter store: A store that was opened with `.homeFeed` among its migrations.
  /// - Throws: `schemaMismatch` if the store lacks an attribute or index that the loads need.
  public init(_ store: Store) throws {
    try store.require([Episode.self, LearningPath.self])
    self.store = store
  }

  /// Returns the episodes, the most recently updated first.
  public func loadRecentUpdates(count: Int) throws -> [Episode] {
    try load(sortBy: [SortDescriptor(\.updatedAt, order: .reverse)], count: count)
  }

  /// Returns the favorite episodes, the most recent favorite first.
  public func loadFavoriteEpisodes(count: Int) throws -> [Episode] {
    try load(
      by: .isNotNull("favoriteAt"), sortBy: [SortDescriptor(\.favoriteAt, order: .reverse)],
      count: count)
  }

  /// Returns the episodes marked to be watched later, the most recent mark first.
  public func loadWatchLaterEpisodes(count: Int) throws -> [Episode] {
    try load(
      by: .isNotNull("watchLaterAt"), sortBy: [SortDescriptor(\.watchLaterAt, order: .reverse)],
      count: count)
  }

  /// Returns the free episodes, the most recently updated first.
  public func loadFreeEpisodes(count: Int) throws -> [Episode] {
    try load(
      by: .comparison("type", .equal, EpisodeType.free.value),
      sortBy: [SortDescriptor(\.updatedAt, order: .reverse)], count: count)
  }

  /// Returns the episodes whose playback has begun, the most recently watched first.
  public func loadWatchingHistories(count: Int) throws -> [Episode] {
    try load(
      by: .isNotNull("watchedAt") && .comparison("progress", .notEqual, 0.0),
      sortBy: [SortDescriptor(\.watchedAt, order: .reverse)], count: count)
  }

  /// Returns the learning paths, the most recently updated first.
  public func loadLearningPath(count: Int) throws -> [LearningPath] {
    try load(sortBy: [SortDescriptor(\.updatedAt, order: .reverse)], count: count)
  }

  /// Returns the episodes of a learning path, by position.
  public func loadEpisodes(of path: LearningPath, count: Int) throws -> [Episode] {
    try load(
      by: hasPosition(in: path), sortBy: [SortDescriptor(\.position)], count: count)
  }

  /// Returns the number of episodes of a learning path, counted in the index.
  public func countEpisodes(of path: LearningPath) throws -> Int {
    try store.count(FetchDescriptor<Episode>(predicate: hasPosition(in: path)))
  }

  /// Returns the content of an episode; nil if the episode no longer exists.
  ///
  /// - Throws: `schemaMismatch` for a store that lacks the migration `homefeed` 3.
  public func loadContent(of episode: Episode) throws -> EpisodeContent? {
    try store.require([EpisodeContent.self])
    let predicate: FetchPredicate =
      .comparison("id", .equal, .string(episode.id))
      && .comparison("feedID", .equal, episode.feedID.value)
    let found: [EpisodeContent] = try load(by: predicate, sortBy: [], count: 1)
    return found.first
  }

  /// Matches the episodes that have a position in the path. Compares values and not references, so
  /// it also matches episodes that no feed contains.
  private func hasPosition(in path: LearningPath) -> FetchPredicate {
    .comparison("pathID", .equal, .string(path.id))
      && .comparison("feedID", .equal, path.feedID.value)
      && .isNotNull("position")
  }

  /// Returns true if the store has an episode or a learning path.
  ///
  /// - Complexity: O(1).
  public func cacheExist() throws -> Bool {
    try store.read { transaction in
      try transaction.count(of: Episode.entityName) > 0
        || transaction.count(of: LearningPath.entityName) > 0
    }
  }

  /// Returns all values of an entity, sorted by one attribute. An index on only this attribute
  /// serves the order.
  public func load<T: Entity, V: Comparable>(
    by keyPath: any KeyPath<T, V> & Sendable, order: SortOrder = .forward
  ) throws -> [T] {
    try store.fetch(FetchDescriptor(sortBy: [SortDescriptor(keyPath, order: order)]))
  }

  /// Returns all values of an entity, sorted by one optional attribute. Values without it come
  /// first, or last in reverse order.
  public func load<T: Entity, V: Comparable>(
    by keyPath: any KeyPath<T, V?> & Sendable, order: SortOrder = .forward
  ) throws -> [T] {
    try store.fetch(FetchDescriptor(sortBy: [SortDescriptor(keyPath, order: order)]))
  }

  /// Returns all values of an entity in the order of a closure.
  ///
  /// No index can serve a closure: this reads every record and sorts in memory. Prefer `order`.
  public func load<T: Entity, V: Comparable>(
    by keyPath: KeyPath<T, V>, criteria: (V, V) -> Bool
  ) throws -> [T] {
    try store.fetch(FetchDescriptor<T>()).sorted(by: keyPath, criteria: criteria)
  }

  private func load<T: Entity>(
    by predicate: FetchPredicate? = nil, sortBy: [SortDescriptor<T>], count: Int
  ) throws -> [T] {
    guard count >= 0 else { throw ContentStoreError.negativeCount(count) }
    var descriptor = FetchDescriptor<T>(
      predicate: predicate, sortBy: sortBy, fetchLimit: count)
    descriptor.requiresIndex = true
    return try store.fetch(descriptor)
  }
}

/// An invalid parameter of a load.
public enum ContentStoreError: Error, Equatable, Sendable, CustomStringConvertible {
  case negativeCount(Int)

  public var description: String {
    switch self {
    case .negativeCount(let count): "a count cannot be negative (\(count)); use 0 for none"
    }
  }
}

extension MigrationSource {
  /// The migrations of the home feed, from the files in /Migrations.
  public static let homeFeed = MigrationSource(embedded: HomeFeedMigrations.files)
}

enum HomeFeedMigrations {
  /// Every file in /Migrations. A test compares them.
  static let files: [(name: String, bytes: [UInt8])] = [
    ("0001_home_feed", PackageResources._001_home_feed_yaml),
    ("0002_learning_path_of_episode", PackageResources._002_learning_path_of_episode_yaml),
    ("0003_episode_content", PackageResources._003_episode_content_yaml),
    ("0004_episodes_of_a_path", PackageResources._004_episodes_of_a_path_yaml),
  ]
}
