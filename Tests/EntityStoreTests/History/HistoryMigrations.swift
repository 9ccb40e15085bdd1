import Migrations

/// The migrations of the tests of the change history.
enum HistoryMigrations {
  static let walks = MigrationSource(embedded: [
    (
      "0001_walks",
      Array(
        """
        line: walks
        summary: Dogs, their walks and their friends
        steps:
          - createEntity:
              name: Dog
              attributes:
                - { name: name, type: string, keepHistory: true }
                - { name: age, type: int64, default: 0 }
                - { name: notes, type: data, optional: true }
          - createEntity:
              name: Walk
              attributes: [ { name: place, type: string, optional: true } ]
          - createEntity:
              name: Silent
              history: false
              attributes: [ { name: word, type: string } ]
          - createRelationship: { on: Dog, name: friends, to: Dog, many: true, inverse: { name: friends } }
          - createRelationship: { on: Walk, name: dog, to: Dog, inverse: { name: walks, many: true, deleteRule: cascade } }
        """.utf8)
    )
  ])

  static let retention = MigrationSource(embedded: [
    (
      "0001_bounds",
      Array(
        """
        line: bounds
        summary: A small history
        steps:
          - retainHistory: { days: 1, megabytes: 1, consumerDays: 2, consumerMegabytes: 2 }
        """.utf8)
    )
  ])
}
