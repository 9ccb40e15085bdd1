import EntityModel
import EntityStore
import Migrations

/// Schemas for mappings, from migration files.
enum MappedSchema {
  static func schema(_ migration: String, line: String = "podcasts") throws -> Schema {
    let bytes = Array(migration.utf8)
    return try Schema(
      of: MigrationLine.load([MigrationSource(embedded: [("0001_\(line)", bytes)])]))
  }

  /// Articles of feeds, and playlists of articles.
  static func podcasts() throws -> Schema {
    try schema(
      """
      line: podcasts
      summary: What mappings are read against
      steps:
        - createEntity:
            name: Feed
            attributes:
              - { name: url, type: string }
              - { name: title, type: string, optional: true }
        - createEntity:
            name: Article
            attributes:
              - { name: guid, type: string }
              - { name: title, type: string, default: "" }
              - { name: publishedAt, type: date, optional: true }
              - { name: artwork, type: data, optional: true }
              - { name: duration, type: int64, optional: true, max: 100 }
              - { name: price, type: decimal, optional: true }
              - { name: words, type: strings, optional: true }
              - { name: kind, type: enum, values: [article, video], optional: true }
              - { name: feedURL, type: string, optional: true }
        - createEntity:
            name: Playlist
            attributes:
              - { name: name, type: string, optional: true }
        - createEntity:
            name: Chapter
            attributes:
              - { name: title, type: string, optional: true }
        - createIndex: { on: Feed, name: byURL, keys: [url], unique: true }
        - createIndex: { on: Article, name: byGuid, keys: [guid], unique: true }
        - createIndex: { on: Article, name: byTitle, keys: [title] }
        - createRelationship:
            on: Article
            name: feed
            to: Feed
            inverse: { name: articles }
        - createRelationship:
            on: Article
            name: source
            to: Feed
            key: { feedURL: url }
            inverse: { name: sourced }
        - createRelationship:
            on: Playlist
            name: items
            to: Article
            many: true
            ordered: true
            inverse: { name: playlists }
        - createRelationship:
            on: Chapter
            name: article
            to: Article
            optional: false
            inverse: { name: chapters }
      """)
  }
}
