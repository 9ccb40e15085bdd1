import EntityModel
public import EntityStore
public import Foundation
public import Migrations

/// The home page, as six lists that are each served by an index.
///
/// Every load throws: an error is never an empty list. A `count` of 0 gives none, a negative one
/// throws. Callable from any thread; readers do not wait for the sync.
public struct ContentStore: Sendable {
  public let store: Store

  /// - Parameter store: Opened with `.homeFeed` among its migrations.
  /// - Throws: `schemaMismatch` if the store lacks what the six loads need.
  public init(_ store: Store) throws {
    try store.require([Episode.self, LearningPath.self])
    self.store = store
  }

  /// All episodes, the most recently updated first.
  public func loadRecentUpdates(count: Int) throws -> [Episode] {
    try load(sortBy: [SortDescriptor(\.updatedAt, order: .reverse)], count: count)
  }

  /// The favorites, the newest favorite first.
  public func loadFavoriteEpisodes(count: Int) throws -> [Episode] {
    try load(
      by: .isNotNull("favoriteAt"), sortBy: [SortDescriptor(\.favoriteAt, order: .reverse)],
      count: count)
  }

  /// What was marked for later, the newest mark first.
  public func loadWatchLaterEpisodes(count: Int) throws -> [Episode] {
    try load(
      by: .isNotNull("watchLaterAt"), sortBy: [SortDescriptor(\.watchLaterAt, order: .reverse)],
      count: count)
  }

  /// The free episodes, the most recently updated first.
  public func loadFreeEpisodes(count: Int) throws -> [Episode] {
    try load(
      by: .comparison("type", .equal, EpisodeType.free.value),
      sortBy: [SortDescriptor(\.updatedAt, order: .reverse)], count: count)
  }

  /// What was begun, the most recently watched first.
  public func loadWatchingHistories(count: Int) throws -> [Episode] {
    try load(
      by: .isNotNull("watchedAt") && .comparison("progress", .notEqual, 0.0),
      sortBy: [SortDescriptor(\.watchedAt, order: .reverse)], count: count)
  }

  /// The learning paths, the most recently updated first.
  public func loadLearningPath(count: Int) throws -> [LearningPath] {
    try load(sortBy: [SortDescriptor(\.updatedAt, order: .reverse)], count: count)
  }

  /// The episodes of a learning path in their order.
  public func loadEpisodes(of path: LearningPath, count: Int) throws -> [Episode] {
    try load(
      by: isPlaced(in: path), sortBy: [SortDescriptor(\.position)], count: count)
  }

  /// The number of episodes of a learning path, counted in the index.
  public func countEpisodes(of path: LearningPath) throws -> Int {
    try store.count(FetchDescriptor<Episode>(predicate: isPlaced(in: path)))
  }

  /// Of the path and with a place there. By the values that link the two, so that it also holds for
  /// what no feed has brought.
  private func isPlaced(in path: LearningPath) -> FetchPredicate {
    .comparison("pathID", .equal, .string(path.id))
      && .comparison("feedID", .equal, path.feedID.value)
      && .isNotNull("position")
  }

  /// Whether anything has been cached: some episode or learning path.
  ///
  /// - Complexity: O(1).
  public func cacheExist() throws -> Bool {
    try store.read { transaction in
      try transaction.count(of: Episode.entityName) > 0
        || transaction.count(of: LearningPath.entityName) > 0
    }
  }

  /// All values of an entity in the order of one attribute; an index serves the order where there
  /// is one on just this attribute.
  public func load<T: Entity, V: Comparable>(
    by keyPath: any KeyPath<T, V> & Sendable, order: SortOrder = .forward
  ) throws -> [T] {
    try store.fetch(FetchDescriptor(sortBy: [SortDescriptor(keyPath, order: order)]))
  }

  /// All values of an entity in the order of one optional attribute; those without it come first,
  /// or last in reverse.
  public func load<T: Entity, V: Comparable>(
    by keyPath: any KeyPath<T, V?> & Sendable, order: SortOrder = .forward
  ) throws -> [T] {
    try store.fetch(FetchDescriptor(sortBy: [SortDescriptor(keyPath, order: order)]))
  }

  /// All values of an entity in the order that a closure says.
  ///
  /// A closure cannot be asked of an index: this reads every record and sorts in memory. Use an
  /// `order` where one will do.
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

/// What a load refuses.
public enum ContentStoreError: Error, Equatable, Sendable, CustomStringConvertible {
  case negativeCount(Int)

  public var description: String {
    switch self {
    case .negativeCount(let count): "a count cannot be negative (\(count)); use 0 for none"
    }
  }
}

extension MigrationSource {
  /// The schema history of the home feed, the files of /Migrations.
  public static let homeFeed = MigrationSource(embedded: HomeFeedMigrations.files)
}

package enum HomeFeedMigrations {
  /// Every file of /Migrations: a test compares.
  static let files: [(name: String, bytes: [UInt8])] = [
    ("0001_home_feed", PackageResources._001_home_feed_yaml),
    ("0002_learning_path_of_episode", PackageResources._002_learning_path_of_episode_yaml),
  ]
}
