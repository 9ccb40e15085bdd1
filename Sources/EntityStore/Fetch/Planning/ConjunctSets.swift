import EntityModel

/// The values of each key part that the conjuncts of a request allow. They are computed once for
/// all indexes that have the attribute, because sorting a list of many values takes long.
final class ConjunctSets {
  private let conjuncts: [PredicateProgram]
  private var known: [Question: KeySets] = [:]

  private struct Question: Hashable {
    let conjunct: Int
    let position: Int
    let collation: Collation?
  }

  init(_ conjuncts: [PredicateProgram]) { self.conjuncts = conjuncts }

  func sets(of conjunct: Int, _ part: IndexLayout.Part) -> KeySets {
    guard KeySets.depend(conjuncts[conjunct], on: part.position) else { return .anything }
    let question = Question(
      conjunct: conjunct, position: part.position, collation: part.collation?.collation)
    if let sets = known[question] { return sets }
    let key = KeySets.Key(kind: part.kind, collation: part.collation)
    let sets = KeySets(conjuncts[conjunct], position: part.position, key: key)
    known[question] = sets
    return sets
  }

  /// Returns the values for which all conjuncts may be true.
  func whereTrue(_ part: IndexLayout.Part) -> IntervalSet {
    let narrowing = conjuncts.indices.filter { KeySets.depend(conjuncts[$0], on: part.position) }
    return IntervalSet.intersection(of: narrowing.map { sets(of: $0, part).whereTrue })
  }
}
