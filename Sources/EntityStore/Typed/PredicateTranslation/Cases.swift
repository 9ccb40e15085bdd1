import EntityModel

/// What a part of a `#Predicate` stands for: in each case of some one term.
///
/// This is how Swift's optionals get into a logic where comparing null is neither true nor false.
/// `progress ?? 0` is `progress` where that is not null, and 0 where it is. A condition is true in
/// one case, false in another one, and null (of an optional `Bool`) in a third.
///
/// The predicate of a case is true exactly where the case holds. Elsewhere it may also be neither
/// true nor false. At most one case holds for a record; none does where Swift would trap.
struct Cases {
  struct Branch {
    var when: FetchPredicate
    var term: Term
  }

  let branches: [Branch]

  init(_ term: Term) { branches = [Branch(when: .always(true), term: term)] }

  /// A condition, by where it is true and where it is false.
  init(yes: FetchPredicate, no: FetchPredicate) {
    self.init([Branch(when: yes, term: .yes), Branch(when: no, term: .no)])
  }

  init(_ condition: Bool) { self.init(condition ? .yes : .no) }

  /// Where Swift would trap: no case holds.
  static var none: Cases { Cases([]) }

  /// Cases that cannot be are left out, and those of one constant condition are joined.
  init(_ branches: [Branch]) {
    var others: [Branch] = []
    var yes: [FetchPredicate] = []
    var no: [FetchPredicate] = []
    var null: [FetchPredicate] = []
    for branch in branches {
      switch branch.term {
      case .constant(true as Bool): yes.append(branch.when)
      case .constant(false as Bool): no.append(branch.when)
      case .null: null.append(branch.when)
      default: others.append(branch)
      }
    }
    others.append(Branch(when: .disjunction(yes), term: .yes))
    others.append(Branch(when: .disjunction(no), term: .no))
    others.append(Branch(when: .disjunction(null), term: .null))
    self.branches = others.filter { $0.when != .always(false) }
  }

  // MARK: As a condition

  /// - Throws: `invalidRequest` if it is no condition.
  func isTrue() throws -> FetchPredicate { try holds(true) }
  func isFalse() throws -> FetchPredicate { try holds(false) }

  private func holds(_ flag: Bool) throws -> FetchPredicate {
    .disjunction(
      try branches.map { branch in .conjunction([branch.when, try branch.term.equals(flag)]) })
  }

  // MARK: As a value

  /// The cases of what a function makes of each term.
  func flatMap(_ transform: (Term) throws -> Cases) rethrows -> Cases {
    Cases(
      try branches.flatMap { branch in try transform(branch.term).narrowed(to: branch.when) })
  }

  /// The cases of what a function makes of each pair of terms.
  func with(_ other: Cases, _ transform: (Term, Term) throws -> Cases) rethrows -> Cases {
    try flatMap { left in try other.flatMap { right in try transform(left, right) } }
  }

  /// The cases where there is a value, and those where it is null.
  func unwrapping(_ value: (Term) throws -> Cases, null: Cases) rethrows -> Cases {
    try flatMap { term in
      if case .null = term { return null }
      guard term.isOptional else { return try value(term) }
      return Cases(
        try value(term.unwrapped).narrowed(to: term.isNotNull) + null.narrowed(to: term.isNull))
    }
  }

  /// These where the condition is true, the others where it is false.
  func chosen(by condition: Cases, otherwise: Cases) throws -> Cases {
    Cases(
      narrowed(to: try condition.isTrue()) + otherwise.narrowed(to: try condition.isFalse()))
  }

  private func narrowed(to condition: FetchPredicate) -> [Branch] {
    branches.map { Branch(when: .conjunction([condition, $0.when]), term: $0.term) }
  }

  /// Whether the predicates together have at most so many parts.
  func isWithin(_ limit: Int) -> Bool {
    var remaining = limit
    return branches.allSatisfy { $0.when.takeParts(from: &remaining) }
  }
}

extension FetchPredicate {
  /// Counts its parts down, and stops at 0.
  fileprivate func takeParts(from remaining: inout Int) -> Bool {
    remaining -= 1
    guard remaining >= 0 else { return false }
    switch self {
    case .always, .comparison: return true
    case .exists(_, let part), .not(let part): return part.takeParts(from: &remaining)
    case .and(let parts), .or(let parts):
      for part in parts where !part.takeParts(from: &remaining) { return false }
      return true
    }
  }
}
