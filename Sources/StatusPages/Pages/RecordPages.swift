import Console
import EntityModel
import EntityStore
import Foundation
import HTTPClient
import StatusModel
import WebServer

/// The pages of the records: entities, the records of one by a predicate, one record.
struct RecordBrowser {
  let transaction: ReadTransaction
  let now: Date

  private static let rowsMax = 50
  /// The transactions that are searched for changes of a record.
  private static let transactionsMax = 2_000
  /// The changes of all records in them: about ten milliseconds.
  private static let changesMax = 50_000
  private static let relatedMax = 20

  // MARK: Entities

  func entities() throws -> Page {
    let schema = transaction.schema
    struct Row: Encodable {
      let name: String
      let records: Int
      let attributes: [String]
      let indexes: [String]
    }
    let rows = try schema.entities.filter { !Self.isHidden($0.name) }.map { entity in
      Row(
        name: entity.name, records: try transaction.count(of: entity.name),
        attributes: entity.attributes.map(\.name), indexes: entity.indexes.map(\.name))
    }.sorted { $0.name < $1.name }
    var page = Page("Records", json: try JSONText.of(rows))
    var table = WebTable(
      "entities", "Entities",
      [.init("entity"), .number("records"), .init("attributes"), .init("indexes")],
      empty: "None.")
    for row in rows {
      table.append([
        .init(row.name, link: "/records/\(row.name)"), .init(Times.count(row.records)),
        .init(row.attributes.joined(separator: ", ")), .init(row.indexes.joined(separator: ", ")),
      ])
    }
    page.blocks.append(.table(table))
    return page
  }

  // MARK: The records of an entity

  /// - Parameter request: With the query items `where`, `sort`, `desc` and `from`.
  func records(of entity: String, _ request: WebRequest) throws -> Page {
    let description = try transaction.description(of: entity)
    let attributes = description.attributes.filter { !$0.isHidden }.map(\.name)
    let text = request.value(of: "where") ?? ""
    let sort = request.value(of: "sort").flatMap { attributes.contains($0) ? $0 : nil }
    let first = max(0, min(request.value(of: "from").flatMap { Int($0) } ?? 0, 1_000_000_000))
    let form = form(entity, attributes, text, sort, request.value(of: "desc") == "1")
    do {
      var fetch = FetchRequest(entityName: entity)
      if !text.isEmpty { fetch.predicate = try FetchPredicate(format: text, arguments: []) }
      if let sort { fetch.sortBy = [SortKey(sort, descending: request.value(of: "desc") == "1")] }
      let total = try transaction.count(fetch)
      fetch.fetchOffset = first
      fetch.fetchLimit = Self.rowsMax
      let records = try transaction.fetch(fetch)
      var page = Page(
        entity, json: try JSONText.of(records.map { try Self.document($0, attributes) }))
      page.blocks.append(.html(form))
      page.blocks.append(.html(plan(try transaction.explain(fetch))))
      let query = request.query.filter { !["from", "format", "table"].contains($0.name) }
        .map { "&\(FormText.encoded($0.name))=\(FormText.encoded($0.value))" }.joined()
      var table = try table(of: records, entity, attributes)
      table.footer = Page.pages(
        "/records/\(FormText.encoded(entity))", query: query, from: first, shown: records.count,
        of: total)
      page.blocks.append(.table(table))
      return page
    } catch let error as any CustomStringConvertible & Error where Self.isOfRequest(error) {
      struct Document: Encodable { let error: String }
      var page = Page(entity, json: try JSONText.of(Document(error: "\(error)")))
      page.status = 400
      page.blocks.append(.html(form))
      page.blocks.append(.html("<p class=\"warning\" role=\"alert\">\(error.description)</p>"))
      return page
    }
  }

  /// True for a mistake in the predicate, which the page shows beside its field.
  private static func isOfRequest(_ error: any Error) -> Bool {
    if error is PredicateFormatError { return true }
    guard let error = error as? StoreError else { return false }
    return [.unknownAttribute, .unknownRelationship, .invalidRequest].contains(error.code)
  }

  private func form(
    _ entity: String, _ attributes: [String], _ text: String, _ sort: String?, _ isDescending: Bool
  ) -> HTML {
    let options = HTML(
      attributes.map { name -> HTML in
        let selected: HTML = name == sort ? " selected=\"selected\"" : .none
        return "<option\(selected)>\(name)</option>"
      })
    let completions = HTML(
      attributes.flatMap { name in
        ["==", "!=", ">", "<", "CONTAINS[cd]"].map { "<option value=\"\(name) \($0) \"/>" as HTML }
      })
    let checked: HTML = isDescending ? " checked=\"checked\"" : .none
    return """
      <form class="query" action="/records/\(FormText.encoded(entity))">
      <label>Predicate <input name="where" value="\(text)" list="predicates" size="50" \
      spellcheck="false" autocomplete="off"/></label>
      <datalist id="predicates">\(completions)</datalist>
      <label>Sort <select name="sort"><option value="">number</option>\(options)</select></label>
      <label><input type="checkbox" name="desc" value="1"\(checked)/> descending</label>
      <button>Fetch</button></form>
      """
  }

  private func plan(_ plan: FetchPlan) -> HTML {
    let lines = HTML(
      "\(plan)".split(separator: "\n").map { "\(String($0))\n" as HTML })
    return "<details><summary>Plan</summary><pre tabindex=\"0\">\(lines)</pre></details>"
  }

  private func table(
    of records: [Record], _ entity: String, _ attributes: [String]
  ) throws -> WebTable {
    var table = WebTable(
      "records", entity, [.number("number")] + attributes.map { .init($0) },
      empty: "No record matches.")
    for record in records {
      let number = WebTable.Cell(
        "\(record.id.number)", link: "/records/\(FormText.encoded(entity))/\(record.id.number)")
      table.append([number] + (try attributes.map { .init(Self.text(try record[$0])) }))
    }
    return table
  }

  // MARK: One record

  /// - Returns: Nil if there is none.
  func record(_ number: Int64, of entity: String) throws -> Page? {
    let id = ObjectID(entity: entity, number: number)
    guard let record = try transaction.get(id) else { return nil }
    let description = record.entity
    let attributes = description.attributes.map(\.name)
    var page = Page(
      "\(entity) \(number)", json: try JSONText.of(try Self.document(record, attributes)))
    page.blocks.append(
      .facts(
        "\(entity) \(number)",
        try attributes.map { ($0, .init(Self.text(try record[$0]))) }))
    page.blocks.append(.html(try relationships(of: id, description)))
    page.blocks.append(.table(try changes(of: id)))
    return page
  }

  private func relationships(of id: ObjectID, _ description: EntityDescription) throws -> HTML {
    let items = try description.relationships.filter { !$0.isHidden }.map { relationship -> HTML in
      let related =
        relationship.isToMany
        ? try transaction.related(id, relationship.name)
        : [try transaction.relatedObject(id, relationship.name)].compactMap { $0 }
      let links = HTML(
        related.prefix(Self.relatedMax).map { other -> HTML in
          let path = "/records/\(FormText.encoded(other.entity))/\(other.number)"
          return "<a href=\"\(path)\">\(other.entity) \(Int(other.number))</a> "
        })
      let more: HTML =
        related.count > Self.relatedMax ? "and \(related.count - Self.relatedMax) more" : .none
      return "<div><dt>\(relationship.name)</dt><dd>\(links)\(more)</dd></div>"
    }
    if items.isEmpty { return .none }
    return "<section><h2>Relationships</h2><dl>\(HTML(items))</dl></section>"
  }

  private func changes(of id: ObjectID) throws -> WebTable {
    let times = Times(now: now)
    let found = try transaction.lastChanges(
      of: id, transactionsMax: Self.transactionsMax, changesMax: Self.changesMax)
    let searched =
      found.transactions == 1 ? "transaction" : "\(Times.count(found.transactions)) transactions"
    var table = WebTable(
      "history", "Changes in the last \(searched)",
      [.init("when"), .init("change"), .init("by"), .init("properties")], empty: "None.")
    for change in found.changes {
      table.append([
        times.cell(change.date), .init(change.change.kind.rawValue), .init(change.author ?? ""),
        .init(change.change.changedProperties.joined(separator: ", ")),
      ])
    }
    return table
  }

  /// True for the entities of Mooring itself, which may have secrets in them. Other pages show what
  /// is in them.
  static func isHidden(_ entity: String) -> Bool { entity.hasPrefix("_") }

  // MARK: Values

  /// Returns the text of a value; of a URL without a user and a password.
  private static func text(_ value: Value) -> String {
    if value.isNull { return "" }
    let text = value.text
    return text.contains("://") && text.contains("@") ? shownURL(text) : text
  }

  private static func document(
    _ record: Record, _ attributes: [String]
  ) throws -> [String: String] {
    var document = ["_id": "\(record.id.number)"]
    for name in attributes {
      let value = try record[name]
      if !value.isNull { document[name] = text(value) }
    }
    return document
  }
}
