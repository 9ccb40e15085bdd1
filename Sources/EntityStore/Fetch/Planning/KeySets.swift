import EntityModel

/// The values of one attribute that a predicate allows, in the form of a key component.
///
/// `whereTrue` and `whereFalse` contain every value for which some record could make the predicate
/// true or false. They are exact if the predicate depends on this attribute only.
struct KeySets {
  var whereTrue: IntervalSet
  var whereFalse: IntervalSet
  /// True if the predicate is true for exactly the values in `whereTrue`, and false for those in
  /// `whereFalse`.
  var isExact: Bool

  /// The kind and the collation of a key component.
  struct Key {
    let kind: ValueKind
    let collation: KeyCollation?
  }

  /// The sets for a predicate that does not depend on the attribute.
  static let anything = KeySets(whereTrue: .all, whereFalse: .all, isExact: false)
}

extension KeySets {
  /// Computes the sets for a predicate.
  ///
  /// - Parameter key: The kind and the collation of the key component.
  init(_ predicate: PredicateProgram, position: Int, key: Key) {
    switch predicate {
    case .constant(let logic):
      self.init(
        whereTrue: logic == .yes ? .all : .none, whereFalse: logic == .no ? .all : .none,
        isExact: true)
    case .attribute(position, let test): self.init(test, key)
    case .and(let parts):
      let sets = parts.map { KeySets($0, position: position, key: key) }
      self.init(
        whereTrue: IntervalSet.intersection(of: sets.map(\.whereTrue)),
        whereFalse: IntervalSet.union(of: sets.map(\.whereFalse)),
        isExact: sets.allSatisfy(\.isExact))
    case .or(let parts):
      let sets = parts.map { KeySets($0, position: position, key: key) }
      self.init(
        whereTrue: IntervalSet.union(of: sets.map(\.whereTrue)),
        whereFalse: IntervalSet.intersection(of: sets.map(\.whereFalse)),
        isExact: sets.allSatisfy(\.isExact))
    case .not(let part):
      let sets = KeySets(part, position: position, key: key)
      self.init(whereTrue: sets.whereFalse, whereFalse: sets.whereTrue, isExact: sets.isExact)
    case .attribute, .identity, .linked, .records, .elements, .isNull, .expression, .compare,
      .compareTexts, .contains, .containsExpression:
      self = .anything
    }
  }

  /// Returns false if the sets of the predicate for this attribute are `anything`.
  static func depend(_ predicate: PredicateProgram, on position: Int) -> Bool {
    switch predicate {
    case .constant: true
    case .attribute(let other, _): other == position
    case .and(let parts), .or(let parts): parts.contains { depend($0, on: position) }
    case .not(let part): depend(part, on: position)
    default: false
    }
  }

  /// Returns the allowed values of one element of a list.
  ///
  /// - Returns: `nil` if the predicate is not about some element.
  static func elements(_ predicate: PredicateProgram, position: Int) -> KeySets? {
    switch predicate {
    case .elements(position, let test, .any):
      let sets = KeySets(test, position: 0, key: Key(kind: .string, collation: nil))
      return sets.isExact && sets.whereTrue.excludesNull ? sets : nil
    case .contains(position, let test):
      return KeySets(.attribute(0, test), position: 0, key: Key(kind: .string, collation: nil))
    default: return nil
    }
  }

  private init(_ test: AttributeTest, _ key: Key) {
    switch test {
    case .isNull: self.init(whereTrue: .null, whereFalse: .notNull, isExact: true)
    case .isNotNull: self.init(whereTrue: .notNull, whereFalse: .null, isExact: true)
    case .text(let test): self.init(test, key.collation)
    default:
      if let collation = key.collation {
        self.init(test, under: collation)
      } else {
        self.init(binary: test, key.kind)
      }
    }
  }

  private init(binary test: AttributeTest, _ kind: ValueKind) {
    switch test {
    case .int64(let test, let constant): self.init(test, .int64(constant))
    case .double(let test, let constant): self.init(test, .double(constant))
    case .bytes(let test, let constant):
      self.init(test, component: KeySets.component(constant, kind))
    case .value(_, .null), .value(_, .strings): self = .anything
    case .value(let test, let constant): self.init(test, constant)
    case .int64Within(let set, let hasNull):
      self.init(within: set.map { KeyComponent.bytes(of: .int64($0)) }, hasNull: hasNull)
    case .bytesWithin(let set, let hasNull):
      self.init(
        within: set.elements.map { KeySets.component($0, kind) }, hasNull: hasNull)
    case .within(let set, let hasNull):
      if set.contains(where: { $0.kind == .strings }) {
        self = .anything
      } else {
        self.init(within: set.map { KeyComponent.bytes(of: $0) }, hasNull: hasNull)
      }
    case .isNull, .isNotNull, .text: self = .anything
    }
  }

  private static func component(_ bytes: [UInt8], _ kind: ValueKind) -> [UInt8] {
    kind == .uuid
      ? [KeyWriter.present] + bytes : bytes.withUnsafeBytes { KeyComponent.bytes(ofText: $0) }
  }

  /// Equal bytes have equal keys in every collation, so that equality narrows the range, without
  /// being exact.
  private init(_ test: AttributeTest, under collation: KeyCollation) {
    switch test {
    case .bytes(.equal, let constant):
      let point = IntervalSet(point: collation.component(constant))
      self.init(whereTrue: point, whereFalse: .notNull, isExact: false)
    case .bytesWithin(let set, _):
      let points = set.elements.map { collation.component($0) }
      self.init(whereTrue: IntervalSet(points: points), whereFalse: .notNull, isExact: false)
    default: self.init(whereTrue: .notNull, whereFalse: .notNull, isExact: false)
    }
  }

  private init(_ test: TextTest, _ collation: KeyCollation?) {
    let texts = KeySets(whereTrue: .notNull, whereFalse: .notNull, isExact: false)
    guard test.hasForm(of: collation) else {
      self = texts
      return
    }
    switch test.operation {
    case .order(let order):
      let operand = test.keyOperand(of: collation)
      self.init(order, component: operand.withUnsafeBytes { KeyComponent.bytes(ofText: $0) })
    case .beginsWith:
      let prefix = test.operand.withUnsafeBytes { KeyComponent.prefix(ofText: $0) }
      let range = IntervalSet(prefix: prefix)
      self.init(whereTrue: range, whereFalse: range.complement, isExact: true)
    case .within(let set, let hasNull):
      self.init(
        within: set.elements.map { $0.withUnsafeBytes { KeyComponent.bytes(ofText: $0) } },
        hasNull: hasNull)
    case .contains, .endsWith, .like, .matches: self = texts
    }
  }

  private init(_ test: OrderTest, _ constant: Value) {
    self.init(test, component: KeyComponent.bytes(of: constant))
  }

  private init(_ test: OrderTest, component: [UInt8]) {
    self.init(
      whereTrue: IntervalSet(test, component), whereFalse: IntervalSet(test.negated, component),
      isExact: true)
  }

  private init(within components: [[UInt8]], hasNull: Bool) {
    let points = IntervalSet(points: components)
    self.init(
      whereTrue: points, whereFalse: hasNull ? .none : points.complement, isExact: true)
  }
}
