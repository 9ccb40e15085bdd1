import EntityStore

/// How often each construct was compared, and which ways of answering were met.
struct Tally: Sendable {
  private(set) var requests = 0
  private(set) var requestsInSQL = 0
  /// The first failures; a run ends at this number.
  var disagreements: [Disagreement] = []
  static let disagreementsMax = 5
  /// Requests whose result the semantics do not define.
  var undefined = 0
  private(set) var constructs: [Construct: Int] = [:]
  private(set) var constructsInSQL: [Construct: Int] = [:]
  var plans: [PlanKind: Int] = [:]

  mutating func add(_ met: Set<Construct>, inSQL: Bool) {
    requests += 1
    for construct in met { constructs[construct, default: 0] += 1 }
    guard inSQL else { return }
    requestsInSQL += 1
    for construct in met { constructsInSQL[construct, default: 0] += 1 }
  }

  mutating func add(_ other: Tally) {
    requests += other.requests
    requestsInSQL += other.requestsInSQL
    undefined += other.undefined
    disagreements += other.disagreements
    constructs.merge(other.constructs, uniquingKeysWith: +)
    constructsInSQL.merge(other.constructsInSQL, uniquingKeysWith: +)
    plans.merge(other.plans, uniquingKeysWith: +)
  }

  /// Those that were met less often than they should be.
  func rare(below least: Int) -> [String] {
    Construct.allCases.filter { constructs[$0, default: 0] < least }
      .map { "\($0): \(constructs[$0, default: 0])" }
  }

  func rarePlans(below least: Int) -> [String] {
    PlanKind.allCases.filter { plans[$0, default: 0] < least }
      .map { "\($0): \(plans[$0, default: 0])" }
  }

  func rareInSQL(below least: Int) -> [String] {
    Construct.allCases.filter { Construct.inSQL.contains($0) }
      .filter { constructsInSQL[$0, default: 0] < least }
      .map { "\($0): \(constructsInSQL[$0, default: 0])" }
  }
}
