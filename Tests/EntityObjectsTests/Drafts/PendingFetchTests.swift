import EntityModel
import Foundation
import TestSupport
import Testing

@testable import EntityObjects
@testable import EntityStore

/// Core Data's observed semantics of pending changes in fetches.
@Suite struct PendingFetchTests {
  /// Stored: alpha 22, bravo 25, charlie 10. Pending: alpha 5, charlie 21, bravo deleted, delta 30,
  /// echo 40.
  private func withPending(_ body: (Draft, ThreeEmployees) throws -> Void) async throws {
    try await withStaff { store, staff in
      let draft = store.draft()
      try draft.update(Employee.self, staff.alpha) { $0.salary = 5 }
      try draft.update(Employee.self, staff.charlie) { $0.salary = 21 }
      try draft.delete(staff.bravo)
      try draft.insert(Employee("delta", 30))
      try draft.insert("Employee", ["name": "echo", "salary": 40])
      try body(draft, staff)
    }
  }

  private static func earners(
    offset: Int = 0, limit: Int? = nil, includesPending: Bool = true
  ) -> FetchDescriptor<Employee> {
    var descriptor = FetchDescriptor<Employee>(
      predicate: .comparison("salary", .greater, 20), sortBy: [SortBy(\.name)], fetchLimit: limit,
      fetchOffset: offset)
    descriptor.includePendingChanges = includesPending
    return descriptor
  }

  private static func text(_ employees: [Employee]) -> [String] {
    employees.map { "\($0.name) \($0.salary)" }
  }

  @Test("A fetch includes the pending changes")
  func overlay() async throws {
    try await withPending { draft, _ in
      let descriptor = Self.earners()
      #expect(try Self.text(draft.fetch(descriptor)) == ["charlie 21", "delta 30", "echo 40"])
      #expect(try draft.count(descriptor) == 3)
      let records = try draft.fetch(try descriptor.request())
      #expect(try records.map { try $0["salary"] } == [21, 30, 40])
      #expect(try draft.fetchIdentifiers(descriptor) == records.map(\.id))
      #expect(records.map(\.id.isTemporary) == [false, true, true])
    }
  }

  @Test("Without pending changes the records are the store's and the values the draft's")
  func withoutPending() async throws {
    try await withPending { draft, staff in
      let descriptor = Self.earners(includesPending: false)
      let found = try draft.fetch(descriptor)
      #expect(Self.text(found) == ["alpha 5", "bravo 25"])
      #expect(try draft.count(descriptor) == 2)
      #expect(try draft.fetchIdentifiers(descriptor) == [staff.alpha, staff.bravo])
    }
  }

  @Test(
    "Offset and limit apply to the merged records",
    arguments: [
      (0, 2, ["charlie", "delta"]), (1, 2, ["delta", "echo"]), (2, 1, ["echo"]), (3, 2, []),
      (0, 0, []), (1, nil, ["delta", "echo"]),
    ] as [(Int, Int?, [String])])
  func window(offset: Int, limit: Int?, names: [String]) async throws {
    try await withPending { draft, _ in
      let descriptor = Self.earners(offset: offset, limit: limit)
      let found = try draft.fetch(descriptor)
      #expect(found.map(\.name) == names)
      #expect(try draft.count(descriptor) == names.count)
    }
  }

  @Test("Rows and groups never include pending changes")
  func rows() async throws {
    try await withPending { draft, _ in
      var request = FetchRequest(entityName: "Employee", sortBy: [SortKey("name")])
      request.propertiesToFetch = ["name"]
      let names = try draft.fetchRows(request).map { try $0["name"] }
      #expect(names == ["alpha", "bravo", "charlie"])
      request.propertiesToFetch = [.sum("salary", as: "total")]
      request.sortBy = []
      let totals = try draft.fetchRows(request).map { try $0["total"] }
      #expect(totals == [57])
      #expect(try draft.count(request) == 1)
    }
  }

  @Test("Without a sort key new records come last, in the order of their creation")
  func orderOfIdentity() async throws {
    try await withPending { draft, staff in
      let ids = try draft.fetchIdentifiers(FetchRequest(entityName: "Employee"))
      #expect(ids == [staff.alpha, staff.charlie] + draft.insertedObjects)
      #expect(try draft.get(Employee.self, ids[2])?.name == "delta")
    }
  }

  @Test("A path leads to pending values, from stored and from pending records")
  func paths() async throws {
    try await withStaff { store, staff in
      try await store.write {
        try $0.update(Employee.self, staff.charlie) { $0.mentor = ToOne(staff.alpha) }
      }
      let draft = store.draft()
      try draft.update(Employee.self, staff.alpha) { $0.name = "zulu" }
      let delta = try draft.insert(Employee("delta", 1))
      try draft.update(Employee.self, staff.bravo) { $0.mentor = ToOne(delta) }
      func fetch(_ format: String) throws -> [String] {
        var request = Employee.fetchRequest()
        request.predicate = try FetchPredicate(format: format)
        request.sortBy = [SortKey("mentor.name")]
        return try draft.fetch(request, as: Employee.self).map(\.name)
      }
      #expect(try fetch("mentor.name == 'zulu'") == ["charlie"])
      #expect(try fetch("mentor.name == 'alpha'") == [])
      #expect(try fetch("mentor.name != nil") == ["bravo", "charlie"])
      #expect(try fetch("ANY pupils.name == 'charlie'") == ["zulu"])
      var ordered = Employee.fetchRequest()
      ordered.sortBy = [SortKey("mentor.name", descending: true)]
      #expect(
        try draft.fetch(ordered, as: Employee.self).map(\.name)
          == ["charlie", "bravo", "zulu", "delta"])
    }
  }

  @Test("A relationship is prefetched with the draft's values")
  func prefetching() async throws {
    try await withStaff { store, staff in
      let draft = store.draft()
      let delta = try draft.insert(Employee("delta", 1, mentor: staff.alpha))
      try draft.update(Employee.self, staff.alpha) { $0.salary = 99 }
      var descriptor = FetchDescriptor<Employee>(
        predicate: .comparison(.init(.itself, .equal, .object(delta))))
      descriptor.relationshipKeyPathsForPrefetching = [\.mentor]
      #expect(try draft.fetch(descriptor).map { $0.mentor?.value?.salary } == [99])
    }
  }

  @Test("Texts that are cut in an index are sorted by their stored values")
  func cutTexts() async throws {
    try await withTemporaryStore { temporary in
      let long = String(repeating: "x", count: 600)
      let ids = try await temporary.store.write { transaction in
        try ["c", "a", "d", "b"].map {
          try transaction.insert("Sample", ["name": .string(long + $0)])
        }
      }
      let draft = temporary.store.draft()
      try draft.delete(ids[0])
      try draft.update(ids[1]) { try $0.set("name", to: .string(long + "e")) }
      let request = FetchRequest(
        entityName: "Sample", sortBy: [SortKey("name")], requiresIndex: true)
      let found = try draft.fetchIdentifiers(request)
      #expect(found == [ids[3], ids[2], ids[1]])
    }
  }

  @Test("A limited fetch reads no more of the store than it needs")
  func economy() async throws {
    try await withTemporaryStore(migrations: [Staff.source]) { temporary in
      try await temporary.store.write { transaction in
        for number in 0..<1_000 {
          try transaction.insert(Employee("e\(number)", number))
        }
      }
      let draft = temporary.store.draft()
      try draft.delete(ObjectID(entity: "Employee", number: 1))
      var request = FetchRequest(entityName: "Employee", sortBy: [SortKey("salary")], fetchLimit: 3)
      let found = try draft.fetch(request)
      #expect(try found.map { try $0["salary"] } == [1, 2, 3])
      request.predicate = .comparison("salary", .lessOrEqual, 3)
      request.fetchLimit = nil
      #expect(try draft.count(request) == 3)
      request.requiresIndex = true
      request.sortBy = [SortKey("note")]
      #expect(code { try draft.fetch(request) } == .requiresIndex)
    }
  }
}
