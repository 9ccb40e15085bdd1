import EntityModel

/// The meaning of a part of a `#Predicate`: a list of cases, each with a condition and a term.
///
/// Cases express Swift's optionals in a logic where a comparison with null is neither true nor
/// false. `progress ?? 0` is `progress` where that is not null, and 0 where it is. A condition is
/// true in one case, false in another one, and null (for an optional `Bool`) in a third.
///
/// The predicate of a case is true exactly where the case holds. Elsewhere it may be false or
/// unknown. At most one case holds for a record; none does where Swift would trap.
struct Cases {
  struct Branch {
    var when: FetchPredicate
    var term: Term
  }

  let branches: [Branch]

  init(_ term: Term) { branches = [Branch(when: .always(true), term: term)] }

  /// Creates a condition from the predicates for true and for false.
  init(yes: FetchPredicate, no: FetchPredicate) {
    self.init([Branch(when: yes, term: .yes), Branch(when: no, term: .no)])
  }

  init(_ condition: Bool) { self.init(condition ? .yes : .no) }

  /// The cases of an expression for which Swift would trap: no case holds.
  static var none: Cases { Cases([]) }

  /// Creates cases. Impossible ones are left out, and those with the same constant condition are
  /// joined.
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

  /// Returns the predicate for the condition being true.
  ///
  /// - Throws: `invalidRequest` if it is no condition.
  func isTrue() throws -> FetchPredicate { try holds(true) }
  func isFalse() throws -> FetchPredicate { try holds(false) }

  private func holds(_ flag: Bool) throws -> FetchPredicate {
    .disjunction(
      try branches.map { branch in .conjunction([branch.when, try branch.term.equals(flag)]) })
  }

  // MARK: As a value

  /// Returns the cases that a function gives for each term.
  func flatMap(_ transform: (Term) throws -> Cases) rethrows -> Cases {
    Cases(
      try branches.flatMap { branch in try transform(branch.term).narrowed(to: branch.when) })
  }

  /// Returns the cases of a function where there is a value, and `null` where it is null.
  func unwrapping(_ value: (Term) throws -> Cases, null: Cases) rethrows -> Cases {
    try flatMap { term in
      if case .null = term { return null }
      guard term.isOptional else { return try value(term) }
      return Cases(
        try value(term.unwrapped).narrowed(to: term.isNotNull) + null.narrowed(to: term.isNull))
    }
  }

  /// Returns these cases where the condition is true, and the others where it is false.
  func chosen(by condition: Cases, otherwise: Cases) throws -> Cases {
    Cases(
      narrowed(to: try condition.isTrue()) + otherwise.narrowed(to: try condition.isFalse()))
  }

  private func narrowed(to condition: FetchPredicate) -> [Branch] {
    branches.map { Branch(when: .conjunction([condition, $0.when]), term: $0.term) }
  }

  /// Returns true if the predicates together have at most this number of parts.
  func isWithin(_ limit: Int) -> Bool {
    var remaining = limit
    return branches.allSatisfy { $0.when.takeParts(from: &remaining) }
  }
}

extension FetchPredicate {
  /// Subtracts the number of parts from `remaining`. Returns `false`, without visiting the rest, if
  /// there are too many.
  fileprivate func takeParts(from remaining: inout Int) -> Bool {
    remaining -= 1
    return remaining >= 0 && parts.allSatisfy { $0.takeParts(from: &remaining) }
  }
}
