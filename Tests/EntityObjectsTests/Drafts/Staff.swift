import EntityModel
import EntityStore
import Migrations
import TestSupport

/// People and the teams that they are in.
struct Employee: Entity {
  var name: String
  var salary: Int
  var mentor: ToOne<Employee>?

  static let attributes: [EntityAttribute<Employee>] = [
    .init("name", \.name), .init("salary", \.salary),
  ]
  static let relationships: [EntityRelationship<Employee>] = [.init("mentor", \.mentor)]

  init(_ name: String, _ salary: Int, mentor: ObjectID? = nil) {
    self.name = name
    self.salary = salary
    self.mentor = mentor.map { ToOne($0) }
  }

  init(from record: inout RecordReader) throws {
    name = try record["name"]
    salary = try record["salary"]
    mentor = try record["mentor"]
  }
}

enum Staff {
  static let source = MigrationSource(embedded: [("0001_staff", Array(text.utf8))])
  /// The same line, with another attribute.
  static let grown = MigrationSource(
    embedded: [("0001_staff", Array(text.utf8)), ("0002_titles", Array(second.utf8))])

  private static let text = """
    line: staff
    summary: People in teams
    steps:
      - createEntity:
          name: Employee
          attributes:
            - { name: name, type: string, maxLength: 8 }
            - { name: salary, type: int64, default: 0, min: 0 }
            - { name: badge, type: int64, optional: true }
            - { name: note, type: string, optional: true }
      - createIndex: { on: Employee, name: byName, keys: [name], unique: true }
      - createIndex: { on: Employee, name: byBadge, keys: [badge], unique: true, sparse: true }
      - createIndex: { on: Employee, name: bySalary, keys: [salary] }
      - createEntity: { name: Team, attributes: [{ name: name, type: string }] }
      - createIndex: { on: Team, name: byName, keys: [name], unique: true }
      - createRelationship: { on: Employee, name: mentor, to: Employee, inverse: { name: pupils } }
      - createRelationship:
          { on: Employee, name: desk, to: Employee, inverse: { name: deskOf, many: false } }
      - createRelationship:
          on: Employee
          name: team
          to: Team
          inverse: { name: members, ordered: true, deleteRule: cascade }
      - createRelationship:
          { on: Employee, name: lead, to: Team, inverse: { name: leads, deleteRule: deny } }
    """

  private static let second = """
    line: staff
    summary: Titles
    steps:
      - addAttribute: { to: Employee, name: title, type: string, optional: true }
    """
}

/// The employees alpha (22), bravo (25) and charlie (10).
struct ThreeEmployees {
  let alpha: ObjectID
  let bravo: ObjectID
  let charlie: ObjectID

  init(in store: Store) async throws {
    self = try await store.write { transaction in
      ThreeEmployees(
        alpha: try transaction.insert(Employee("alpha", 22)),
        bravo: try transaction.insert(Employee("bravo", 25)),
        charlie: try transaction.insert(Employee("charlie", 10)))
    }
  }

  private init(alpha: ObjectID, bravo: ObjectID, charlie: ObjectID) {
    self.alpha = alpha
    self.bravo = bravo
    self.charlie = charlie
  }
}

func withStaff(
  isolation: isolated (any Actor)? = #isolation,
  _ body: (Store, ThreeEmployees) async throws -> Void
) async throws {
  try await withTemporaryStore(migrations: [Staff.source]) { temporary in
    try await body(temporary.store, try await ThreeEmployees(in: temporary.store))
  }
}

extension Store {
  /// The employees in order of name, as text.
  func staff() throws -> [String] {
    try fetch(FetchDescriptor<Employee>(sortBy: [SortBy(\.name)])).map { "\($0.name) \($0.salary)" }
  }
}
