import EntityModel
import Foundation
import TestSupport
import Testing

@testable import EntityStore

/// A cached plan with other constants: its results equal those of a plan of their own.
@Suite struct PlanParameterTests {
  /// Comparisons of attributes with a parameter each, and what else the requests have.
  struct Form: CustomTestStringConvertible, Sendable {
    var comparisons: [(attribute: String, comparison: ComparisonOperator)]
    var rest: FetchPredicate?
    var sortBy: [SortKey] = []
    /// True if constants of the attributes' kinds can be bound to the plan.
    var bindsConstants = true

    var testDescription: String { request(comparisons.map { _ in "?" }).predicate.debugDescription }

    func request(_ constants: [Value]) -> FetchRequest {
      let parts = zip(comparisons, constants).map {
        FetchPredicate.comparison($0.attribute, $0.comparison, $1)
      }
      return FetchRequest(
        entityName: "Sample", predicate: .and(parts + (rest.map { [$0] } ?? [])), sortBy: sortBy)
    }
  }

  static let forms: [Form] = [
    Form(comparisons: [("rank", .equal)]),
    Form(comparisons: [("rank", .equal)], sortBy: [SortKey("rank")]),
    Form(comparisons: [("rank", .greaterOrEqual)], sortBy: [SortKey("rank")]),
    Form(comparisons: [("rank", .less)], sortBy: [SortKey("rank", descending: true)]),
    Form(
      comparisons: [("rank", .greater), ("rank", .lessOrEqual)], sortBy: [SortKey("rank")]),
    Form(comparisons: [("rank", .equal), ("rank", .greater)], sortBy: [SortKey("rank")]),
    Form(
      comparisons: [("rank", .greater)], rest: .isIn("rank", [1, 3, .int64(.max)]),
      sortBy: [SortKey("rank")]),
    Form(comparisons: [("title", .equal)]),
    Form(comparisons: [("title", .equal)], sortBy: [SortKey("rank", descending: true)]),
    Form(
      comparisons: [("title", .equal), ("rank", .less)],
      sortBy: [SortKey("rank", descending: true)]),
    Form(comparisons: [("title", .greater)], sortBy: [SortKey("title")]),
    Form(comparisons: [("name", .equal)]),
    Form(comparisons: [("name", .lessOrEqual)], sortBy: [SortKey("name", descending: true)]),
    Form(comparisons: [("kind", .equal)], sortBy: [SortKey("score", descending: true)]),
    Form(comparisons: [("score", .less)], sortBy: [SortKey("score")]),
    Form(comparisons: [("price", .equal), ("title", .equal)], sortBy: [SortKey("state")]),
    Form(comparisons: [("dueAt", .less)], sortBy: [SortKey("dueAt", descending: true)]),
    Form(comparisons: [("isOpen", .equal)], sortBy: [SortKey("dueAt")]),
    Form(comparisons: [("isOpen", .equal), ("dueAt", .greater)], sortBy: [SortKey("dueAt")]),
    Form(comparisons: [("token", .equal)], sortBy: [SortKey("token")]),
    Form(comparisons: [("blob", .equal)], sortBy: [SortKey("blob")]),
    Form(comparisons: [("link", .equal)], sortBy: [SortKey("link")]),
    Form(
      comparisons: [("rank", .equal)], rest: .comparison("tags", .contains, "a"),
      bindsConstants: false),
    // No index holds the bytes of a label, so that the records are checked.
    Form(comparisons: [("label", .equal)], sortBy: [SortKey("label")], bindsConstants: false),
  ]

  @Test("Other constants have the results of a plan of their own", arguments: forms)
  func otherConstants(form: Form) async throws {
    try await withTemporaryStore { temporary in
      var random = temporary.random
      try await temporary.store.write { [random] transaction in
        var random = random
        for number in 0..<300 {
          var values = Self.attributes.mapValues { $0.randomElement(using: &random) ?? .null }
          values["name"] = .string(values["name", default: ""].text + "\(number)")
          for required in ["rank", "state"] where values[required] == .null {
            values[required] = nil
          }
          try transaction.insert("Sample", values)
        }
      }
      var bound: [[ValueKind?]: Set<[Value]>] = [:]
      for _ in 0..<150 {
        let constants = form.comparisons.map { Self.constant($0.attribute, &random) }
        let request = form.request(constants)
        try temporary.store.read { transaction in
          if try Self.isBound(request, in: transaction) {
            bound[constants.map(\.kind), default: []].insert(constants)
          }
          #expect(
            try Self.outcome { try transaction.fetchIdentifiers(request).map(\.number) }
              == Self.outcome { try Self.planned(request, in: transaction) },
            "\(request), seed \(temporary.random.seed)")
        }
      }
      // Of each form, the constants that were planned are bound in any case.
      #expect(bound.values.contains { $0.count > 1 } == form.bindsConstants)
    }
  }

  @Test func aTextThatIsCutIsNotBound() async throws {
    try await withTemporaryStore { temporary in
      let store = temporary.store
      let texts = ["a", "b", Self.long + "a", Self.long + "b"]
      try await store.write { transaction in
        for text in texts { try transaction.insert("Sample", ["name": .string(text)]) }
      }
      for text in texts + texts {
        let request = FetchRequest(
          entityName: "Sample", predicate: .comparison("name", .equal, .string(text)))
        #expect(try store.fetch(request).map { try $0["name"] } == [.string(text)])
      }
    }
  }

  @Test func aWindowBelongsToNoForm() async throws {
    try await withTemporaryStore { temporary in
      try await temporary.store.write { transaction in
        for rank in 0..<20 as Range<Int64> {
          try transaction.insert("Sample", ["name": .string("s\(rank)"), "rank": .int64(rank)])
        }
      }
      for offset in 0..<20 {
        var request = FetchRequest(
          entityName: "Sample", sortBy: [SortKey("rank")], fetchLimit: 3, fetchOffset: offset)
        let ranks = try temporary.store.fetch(request).map { try $0["rank"] }
        #expect(ranks == (offset..<min(20, offset + 3)).map { .int64(Int64($0)) })
        request.fetchLimit = 0
        #expect(throws: StoreError.self) { try temporary.store.fetch(request) }
      }
    }
  }

  // MARK: Constants

  private static let long = String(repeating: "x", count: 600)

  private static let attributes: [String: [Value]] = [
    "name": texts, "title": texts + [.null], "label": [.null],
    "rank": [1, 2, 3, .int64(.min), .int64(.max), 0, -1],
    "score": [1.5, .double(-0.0), 0.0, .double(.infinity), .double(-.infinity), 2.0, .null],
    "price": [.decimal(1), .decimal(2), .decimal(-3), .null],
    "isOpen": [true, false, .null],
    "dueAt": [.date(Date(timeIntervalSinceReferenceDate: 0)), .date(.distantPast), .null],
    "token": [
      .uuid(UUID(uuid: (1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1))),
      .uuid(UUID(uuid: (1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2))), .null,
    ],
    "blob": [.data(Data()), .data(Data([0])), .data(Data([0, 255])), .null],
    "link": ["https://a.example/", "https://a.example/" + long].compactMap {
      URL(string: $0).map(Value.url)
    } + [.null],
    "tags": [.strings(["a", "b"]), .strings([]), .null],
    "kind": [1, 2, .null], "state": ["fresh", "played"],
  ]

  private static let texts: [Value] =
    ["", "a", "A", "\0", "caf\u{e9}", "cafe\u{301}"].map(Value.string)
    + ["", "a", "b"].map { .string(long + $0) }

  /// Constants of all kinds; most do not fit.
  private static let others: [Value] = [
    .null, .double(.nan), 1.0, 1.5, 0x1p63, 1, 0, "1", "small", "2001-01-01T00:00:00Z",
    .date(Date(timeIntervalSinceReferenceDate: .nan)), .decimal(1), .decimal(.nan),
    .string(String(repeating: "y", count: 480)), .strings(["a"]), true,
  ]

  private static func constant(_ attribute: String, _ random: inout SeededRandom) -> Value {
    let usual = attributes[attribute] ?? []
    let isOther = Int.random(in: 0..<3, using: &random) == 0
    return (isOther ? others : usual).randomElement(using: &random) ?? .null
  }

  @Test func aWindowOfNoRowsHasNone() async throws {
    try await withTemporaryStore { temporary in
      try await temporary.store.write { _ = try $0.insert("Sample", ["name": "a"]) }
      try temporary.store.read { transaction in
        let request = try FetchRequest(entityName: "Sample").bound(in: transaction)
        for count in 0...1 {
          var execution = try FetchExecution(request.first(count), in: transaction)
          var rows = 0
          try execution.run { _ in
            rows += 1
            return true
          }
          #expect(rows == count)
        }
      }
    }
  }

  // MARK: Results

  private struct Outcome: Equatable {
    var ids: [Int64] = []
    var error: StoreError.Code?
  }

  private static func outcome(_ body: () throws -> [Int64]) throws -> Outcome {
    do {
      return Outcome(ids: try body())
    } catch let error as StoreError {
      return Outcome(error: error.code)
    }
  }

  private static func planned(
    _ request: FetchRequest, in transaction: ReadTransaction
  ) throws -> [Int64] {
    var execution = try FetchExecution(request.bound(in: transaction), in: transaction)
    var ids: [Int64] = []
    try execution.run { row in
      ids.append(row.id)
      return true
    }
    return ids
  }

  private static func isBound(
    _ request: FetchRequest, in transaction: ReadTransaction
  ) throws -> Bool {
    let form = try #require(request.form)
    let plan = transaction.catalog.plans[form.hash] as? ReusablePlan
    return plan?.bound(to: form, of: request) != nil
  }
}
