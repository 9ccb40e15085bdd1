/// Comparisons of numbers and dates with constants that must all hold, made flat.
///
/// A scan asks them of every record; a tree of predicates takes several times as long to walk as
/// the comparisons do.
struct NumberTests {
  private var tests: [Test] = []

  private struct Test {
    let position: Int
    let order: OrderTest
    let constant: Constant
  }

  private enum Constant {
    case int64(Int64)
    case double(Double)
  }

  /// - Returns: `nil` if the predicate says anything else, or something else besides.
  init?(_ program: PredicateProgram) {
    let parts = if case .and(let parts) = program { parts } else { [program] }
    for part in parts {
      switch part {
      case .attribute(let position, .int64(let order, let constant)):
        tests.append(Test(position: position, order: order, constant: .int64(constant)))
      case .attribute(let position, .double(let order, let constant)):
        tests.append(Test(position: position, order: order, constant: .double(constant)))
      default: return nil
      }
    }
  }

  /// Whether all hold; none does of null.
  @inline(__always)
  func hold(of view: RecordView) -> Bool {
    for test in tests {
      let field = view.field(test.position)
      if field.isNull { return false }
      switch test.constant {
      case .int64(let constant): if !test.order.holds(field.int64, constant) { return false }
      case .double(let constant): if !test.order.holds(field.double, constant) { return false }
      }
    }
    return true
  }
}
