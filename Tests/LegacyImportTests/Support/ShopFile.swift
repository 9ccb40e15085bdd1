import Foundation
import LegacyImport
import TestSupport

/// Orders with their lines, customers, and an ordered list of labels for each: a file with two
/// relationships by column, and one by a join table.
struct ShopFile {
  static let migration = """
    line: shop
    summary: What the shop's file is imported to
    steps:
      - createEntity:
          name: Customer
          attributes: [{ name: name, type: string, owner: local }]
      - createEntity:
          name: Order
          attributes:
            - { name: number, type: int64, owner: local }
            - { name: note, type: string, optional: true, owner: local }
            - { name: placedAt, type: date, optional: true, owner: local }
      - createEntity:
          name: Label
          attributes: [{ name: word, type: string, owner: local }]
      - createIndex: { on: Order, name: byNumber, keys: [number], unique: true }
      - createIndex: { on: Order, name: byDate, keys: [placedAt] }
      - createRelationship:
          { on: Order, name: customer, to: Customer, inverse: { name: orders, many: true } }
      - createRelationship:
          { on: Order, name: previous, to: Order, inverse: { name: following, many: true } }
      - createRelationship:
          on: Order
          name: labels
          to: Label
          many: true
          ordered: true
          inverse: { name: orders, many: true }
    """

  static let mapping = """
    import: shop
    dialect: plain
    rejects: 100%
    entities:
      - entity: Customer
        table: customer
        key: [id]
        attributes: { name: name }
      - entity: Order
        table: orders
        key: [id]
        attributes:
          number: id
          note: note
          placedAt: { column: placed, date: unixSeconds }
        relationships:
          customer: { column: customer, table: customer }
          previous: { column: previous, table: orders }
          labels: { join: order_label, owner: [order_id], target: [label], order: place, table: label }
      - entity: Label
        table: label
        key: [word]
        attributes: { word: word }
    """

  let path: String
  let mappingPath: String
  let migrationsPath: String

  init(in folder: TemporaryFolder, orders: Int) throws {
    path = folder.path("shop.db")
    mappingPath = folder.path("shop.yaml")
    migrationsPath = folder.path("migrations")
    try Data(Self.mapping.utf8).write(to: URL(filePath: mappingPath))
    try FileManager.default.createDirectory(
      atPath: migrationsPath, withIntermediateDirectories: true)
    try Data(Self.migration.utf8).write(to: URL(filePath: migrationsPath + "/0001_shop.yaml"))
    try MadeDatabase.make(
      at: path,
      """
      CREATE TABLE customer (id INTEGER PRIMARY KEY, name TEXT);
      CREATE TABLE orders (id INTEGER PRIMARY KEY, note TEXT, placed REAL, customer INTEGER,
        previous INTEGER);
      CREATE TABLE label (word TEXT PRIMARY KEY) WITHOUT ROWID;
      CREATE TABLE order_label (order_id INTEGER, label TEXT, place INTEGER);
      INSERT INTO label VALUES ('urgent'), ('gift'), ('paid');
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(orders / 10))
      INSERT INTO customer SELECT i, 'customer ' || i FROM n;
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(orders))
      INSERT INTO orders SELECT i, iif(i % 3, 'note ' || i, NULL), 1700000000 + i * 60,
        1 + i * 7919 % \(orders / 10 + 1), iif(i % 5, \(orders) + 1 - i, NULL) FROM n;
      INSERT INTO order_label SELECT id, 'paid', 3 FROM orders WHERE id % 2 = 0;
      INSERT INTO order_label SELECT id, 'gift', 1 FROM orders WHERE id % 4 = 0;
      INSERT INTO order_label SELECT id, 'nowhere', 2 FROM orders WHERE id % 100 = 0;
      """)
  }

  /// Changes the file as its program might between two runs.
  func change(orders: Int) throws {
    try MadeDatabase.make(
      at: path,
      """
      UPDATE orders SET note = 'changed ' || id WHERE id % 3 = 0;
      UPDATE orders SET customer = 1 WHERE id % 11 = 0;
      UPDATE orders SET previous = NULL WHERE id % 13 = 0;
      DELETE FROM order_label WHERE order_id % 8 = 0;
      INSERT INTO order_label SELECT id, 'urgent', 2 FROM orders WHERE id % 6 = 0;
      DELETE FROM orders WHERE id % 50 = 7;
      INSERT INTO orders SELECT id + \(orders), 'new', 0, 1, id FROM orders WHERE id % 20 = 1;
      """)
  }
}
