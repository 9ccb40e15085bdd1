import EntityModel
import EntityStore
import Foundation
import Migrations
import PostgreSQL
import StoreTables
import TestSupport
import Testing

@testable import StoreHub

extension TestHub {
  /// The schema of the tables, quoted.
  var schema: String { "\"mooring_\(name)\"" }

  func writer(_ machine: String, _ store: Store) throws -> TableWriter {
    TableWriter(store, of: try address(machine))
  }

  /// Executes a statement of an operator, and returns its first column.
  func texts(_ sql: String) throws -> [String?] {
    var session = try session()
    return try session.rows(Statement(sql, resultFormat: .text)) { try $0.text(0) }
  }

  func run(_ statements: String...) throws {
    var session = try session()
    try session.execute(statements.map { Statement($0) })
  }

  /// Notes each row that is written, from now on, in a table that `takeNotes` empties.
  func noteRows(of table: String) throws {
    try run(
      "CREATE TABLE IF NOT EXISTS \(schema).notes (id bigint, kind text)",
      """
      CREATE OR REPLACE FUNCTION \(schema).note() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        INSERT INTO \(schema).notes VALUES (coalesce(new."_id", old."_id"), tg_op);
        RETURN NULL;
      END $$
      """,
      """
      CREATE TRIGGER note AFTER INSERT OR UPDATE OR DELETE ON \(schema)."\(table)"
      FOR EACH ROW EXECUTE FUNCTION \(schema).note()
      """)
  }

  /// Returns the notes as `INSERT 7`, ordered.
  func takeNotes() throws -> [String] {
    try texts("DELETE FROM \(schema).notes RETURNING kind || ' ' || id").compactMap { $0 }.sorted()
  }
}

/// Compares a table with the records of its entity, column by column.
func requireTable(_ entity: String, of store: Store, in hub: TestHub) throws {
  try requireClean(store)
  let description = try store.read { try $0.description(of: entity) }
  let attributes = description.attributes.filter { !$0.isHidden }
  let links = description.relationships.filter { link in
    if case .link = link.storage { return !link.isHidden }
    return false
  }
  let expected = try store.read { transaction in
    try transaction.fetch(FetchRequest(entityName: entity)).map { record in
      var cells = try attributes.map { Cell(try record[$0.name]) }
      for link in links {
        cells.append(Cell(numbers: try transaction.related(record.id, link.name).map(\.number)))
      }
      return Row(id: record.id.number, cells: cells)
    }.sorted { $0.id < $1.id }
  }
  let columns =
    ["\"_id\"::text"] + attributes.map { expression($0) } + links.map { "\"\($0.name)\"::text" }
  var session = try hub.session()
  let sql =
    "SELECT \(columns.joined(separator: ", ")) FROM \(hub.schema).\"\(entity)\" t ORDER BY t._id"
  let stored = try session.rows(Statement(sql, resultFormat: .text)) { row in
    Row(
      id: try row.text(0).flatMap(Int64.init) ?? 0,
      cells: try (1..<columns.count).map { column in
        let kind = column <= attributes.count ? attributes[column - 1].type.kind : .string
        return Cell(try row.text(column), kind)
      })
  }
  #expect(stored.count == expected.count)
  if let (row, other) = zip(stored, expected).first(where: { $0 != $1 }) {
    Issue.record("the table has \(row), the store \(other)")
  }
}

private func expression(_ attribute: AttributeDescription) -> String {
  switch attribute.type.kind {
  case .date: "round(extract(epoch FROM \"\(attribute.name)\") * 1000000)::text"
  case .data: "encode(\"\(attribute.name)\", 'base64')"
  case .strings: "to_json(\"\(attribute.name)\")::text"
  default: "\"\(attribute.name)\"::text"
  }
}

private struct Row: Equatable {
  let id: Int64
  let cells: [Cell]
}

/// A value as comparable text; `nil` for null.
private struct Cell: Equatable, CustomStringConvertible {
  let text: String?

  var description: String { text ?? "null" }

  init(numbers: [Int64]) { text = "{\(numbers.map(String.init).joined(separator: ","))}" }

  init(_ value: Value) {
    text =
      switch value {
      case .null: nil
      case .int64(let number): String(number)
      case .double(let number): String(number)
      case .decimal(let number): "\(number)"
      case .bool(let bool): String(bool)
      case .string(let text): text
      case .date(let date): String(Int((date.timeIntervalSince1970 * 1e6).rounded()))
      case .uuid(let uuid): uuid.uuidString
      case .data(let data): data.base64EncodedString()
      case .url(let url): url.absoluteString
      case .strings(let texts): "\(texts)"
      }
  }

  /// Reads what the database has.
  init(_ text: String?, _ kind: ValueKind) {
    guard let text else {
      self.text = nil
      return
    }
    self.text =
      switch kind {
      case .double: Double(text).map { String($0) }
      case .decimal: Decimal(string: text).map { "\($0)" }
      case .uuid: text.uppercased()
      case .data: text.replacing("\n", with: "")
      case .strings:
        (try? JSONDecoder().decode([String].self, from: Data(text.utf8))).map { "\($0)" }
      default: text
      }
  }
}

/// Returns the code with which an update of tables fails.
func tablesCode(_ body: () throws -> Void) -> TablesError.Code? {
  do {
    try body()
    return nil
  } catch let error as TablesError {
    return error.code
  } catch {
    Issue.record(error)
    return nil
  }
}

/// Runs `body` with a hub of teams and players.
func withLeague(_ body: (TestHub, Store) async throws -> Void) async throws {
  try await withHub { hub in
    var hub = hub
    hub.migrations = [.league]
    // The store without the log must be released before it is opened with it.
    func create() throws { _ = try hub.setup("first").create(named: hub.name, hub.open("first")) }
    try create()
    try await body(hub, try hub.open("first"))
  }
}
