import EntityModel
import Foundation
import TestSupport
import Testing

@testable import EntityObjects
@testable import EntityStore

/// Every merge policy against every kind of meeting of two writers.
@Suite struct MergePolicyTests {
  /// The change of alpha (22, no note) in the draft, and the concurrent one by another writer.
  enum Meeting: CaseIterable {
    /// salary 5 here, salary 7 there.
    case sameProperty
    /// salary 5 here, a note there.
    case otherProperty
    /// salary 5 here, salary 7 and a note there.
    case both
    /// Salary 5 in the draft, deleted in the store.
    case deletedElsewhere
    /// Deleted in the draft, salary 7 in the store.
    case deletedHere
    /// Deleted on both sides.
    case deletedTwice
    /// salary 5 on both sides.
    case sameValue
  }

  /// The result for alpha: salary and note, deleted, or a failed save.
  enum Outcome: Equatable {
    case holds(Int, String?)
    case gone
    case conflicts([String?])
  }

  static let table: [MergePolicy: [Meeting: Outcome]] = [
    .error: [
      .sameProperty: .conflicts(["salary"]), .otherProperty: .conflicts(["note"]),
      .both: .conflicts(["salary", "note"]), .deletedElsewhere: .conflicts([nil]),
      .deletedHere: .conflicts(["salary"]), .deletedTwice: .gone, .sameValue: .holds(5, nil),
    ],
    .storeWins: [
      .sameProperty: .holds(7, nil), .otherProperty: .holds(5, "there"), .both: .holds(7, "there"),
      .deletedElsewhere: .gone, .deletedHere: .holds(7, nil), .deletedTwice: .gone,
      .sameValue: .holds(5, nil),
    ],
    .draftWins: [
      .sameProperty: .holds(5, nil), .otherProperty: .holds(5, "there"), .both: .holds(5, "there"),
      .deletedElsewhere: .holds(5, nil), .deletedHere: .gone, .deletedTwice: .gone,
      .sameValue: .holds(5, nil),
    ],
    .overwrite: [
      .sameProperty: .holds(5, nil), .otherProperty: .holds(5, nil), .both: .holds(5, nil),
      .deletedElsewhere: .holds(5, nil), .deletedHere: .gone, .deletedTwice: .gone,
      .sameValue: .holds(5, nil),
    ],
    .rollback: [
      .sameProperty: .holds(7, nil), .otherProperty: .holds(22, "there"), .both: .holds(7, "there"),
      .deletedElsewhere: .gone, .deletedHere: .holds(7, nil), .deletedTwice: .gone,
      .sameValue: .holds(5, nil),
    ],
  ]

  @Test("Each policy", arguments: MergePolicy.allCases, Meeting.allCases)
  func meeting(policy: MergePolicy, meeting: Meeting) async throws {
    try await withStaff { store, staff in
      let draft = store.draft(mergePolicy: policy)
      switch meeting {
      case .deletedHere, .deletedTwice: try draft.delete(staff.alpha)
      default: try draft.update(Employee.self, staff.alpha) { $0.salary = 5 }
      }
      // Something without a conflict goes along, or fails along.
      try draft.update(Employee.self, staff.bravo) { $0.salary = 99 }
      try await store.write { transaction in
        switch meeting {
        case .deletedElsewhere, .deletedTwice: try transaction.delete(staff.alpha)
        case .sameProperty, .deletedHere: try Self.set(transaction, staff.alpha, 7, nil)
        case .otherProperty: try Self.set(transaction, staff.alpha, 22, "there")
        case .both: try Self.set(transaction, staff.alpha, 7, "there")
        case .sameValue: try Self.set(transaction, staff.alpha, 5, nil)
        }
      }
      let expected = try #require(Self.table[policy]?[meeting])
      do {
        try await draft.save()
        #expect(try Self.outcome(store, staff) == expected)
        #expect(try store.get(staff.bravo, "salary") == 99)
        #expect(!draft.hasChanges)
      } catch let error as StoreError {
        let all = [error] + error.others
        #expect(all.allSatisfy { $0.code == .conflict && $0.object == staff.alpha })
        #expect(Outcome.conflicts(all.map(\.property)) == expected)
        #expect(try store.get(staff.bravo, "salary") == 25)
        #expect(draft.hasChanges)
      }
    }
  }

  private static func set(
    _ transaction: WriteTransaction, _ id: ObjectID, _ salary: Int, _ note: String?
  ) throws {
    try transaction.update(id) {
      try $0.set("salary", to: .int64(Int64(salary)))
      try $0.set("note", to: note.map(Value.string) ?? .null)
    }
  }

  private static func outcome(_ store: Store, _ staff: ThreeEmployees) throws -> Outcome {
    try store.read { transaction in
      guard let record = try transaction.get(staff.alpha) else { return .gone }
      guard case .int64(let salary) = try record["salary"] else { return .gone }
      let note: String? = if case .string(let text) = try record["note"] { text } else { nil }
      return .holds(Int(salary), note)
    }
  }

  @Test("All conflicts are reported, with the read, the stored and the pending value")
  func conflictsAreReported() async throws {
    try await withStaff { store, staff in
      let (one, two) = (store.draft(), store.draft())
      for draft in [one, two] {
        let salary = draft === one ? 1 : 2
        try draft.update(Employee.self, staff.alpha) { $0.salary = salary }
        try draft.update(Employee.self, staff.bravo) { $0.salary = salary }
      }
      try await one.save()
      do {
        try await two.save()
        Issue.record("two drafts changed the same records")
      } catch let error as StoreError {
        #expect(error.code == .conflict)
        #expect(error.object == staff.alpha && error.property == "salary")
        #expect(error.others.map(\.object) == [staff.bravo])
        #expect("\(error)".contains("was: 22, is: 1, draft: 2"))
      }
      #expect(try store.staff() == ["alpha 1", "bravo 1", "charlie 10"])
      // The draft is as it was, and may choose.
      try two.rollback(staff.bravo)
      two.mergePolicy = .draftWins
      try await two.save()
      #expect(try store.staff() == ["alpha 2", "bravo 1", "charlie 10"])
    }
  }

  @Test("A reference to a record that was deleted concurrently", arguments: MergePolicy.allCases)
  func referenceToGone(policy: MergePolicy) async throws {
    try await withStaff { store, staff in
      let draft = store.draft(mergePolicy: policy)
      let echo = try draft.insert(Employee("echo", 1, mentor: staff.alpha))
      try draft.update(Employee.self, staff.charlie) {
        $0.salary = 11
        $0.mentor = ToOne(staff.alpha)
      }
      try await store.write { _ = try $0.delete(staff.alpha) }
      do {
        try await draft.save()
        #expect(policy == .storeWins || policy == .rollback)
        #expect(try store.staff() == ["bravo 25", "charlie 11", "echo 1"])
        #expect(try store.get(staff.charlie, "mentor") == .null)
      } catch let error as StoreError {
        #expect(policy != .storeWins && policy != .rollback)
        let all = [error] + error.others
        #expect(
          all.map(\.object) == [staff.charlie, echo] || all.map(\.object) == [echo, staff.charlie])
        #expect(all.allSatisfy { $0.code == .validation && $0.property == "mentor" })
        #expect(draft.hasChanges)
      }
    }
  }

  @Test("Only assigned properties count: others are not overwritten")
  func onlyAssigned() async throws {
    try await withStaff { store, staff in
      let draft = store.draft(mergePolicy: .draftWins)
      try draft.update(Employee.self, staff.alpha) { $0.name = "alfa" }
      try await store.write {
        try $0.update(staff.alpha) {
          try $0.set("note", to: "kept")
          try $0.set("salary", to: 1)
        }
      }
      try await draft.save()
      #expect(try store.staff() == ["alfa 1", "bravo 25", "charlie 10"])
      #expect(try store.get(staff.alpha, "note") == "kept")
    }
  }

  @Test("The places of an ordered relationship are no conflict")
  func places() async throws {
    try await withStaff { store, staff in
      let all = [staff.alpha, staff.bravo, staff.charlie]
      let team = try await store.write { transaction in
        let team = try transaction.insert("Team", ["name": "red"])
        try transaction.setRelated(team, "members", to: all)
        return team
      }
      let draft = store.draft()
      try draft.update(Employee.self, staff.alpha) { $0.salary = 1 }
      try await store.write {
        try $0.moveRelated([staff.alpha], of: team, "members", to: 2)
      }
      try await draft.save()
      #expect(
        try store.read { try $0.related(team, "members") }
          == [staff.bravo, staff.charlie, staff.alpha])
      #expect(try store.get(staff.alpha, "salary") == 1)
    }
  }

  @Test(
    "A link to a deleted record is a conflict, or is dropped", arguments: MergePolicy.allCases)
  func linksOfTheGone(policy: MergePolicy) async throws {
    try await withStaff { store, staff in
      let team = try await store.write { try $0.insert("Team", ["name": "red"]) }
      let draft = store.draft(mergePolicy: policy)
      try draft.addRelated([staff.alpha, staff.bravo], to: team, "members")
      try await store.write { try $0.delete(staff.alpha) }
      let saved = await code { try await draft.save() }
      let isDropped = policy == .storeWins || policy == .rollback
      #expect(saved == (isDropped ? nil : .conflict))
      #expect(
        try store.read { try $0.related(team, "members") } == (isDropped ? [staff.bravo] : []))
    }
  }
}

extension Store {
  fileprivate func get(_ id: ObjectID, _ attribute: String) throws -> Value? {
    try read { transaction in
      guard let record = try transaction.get(id) else { return nil }
      return try record[attribute]
    }
  }
}
