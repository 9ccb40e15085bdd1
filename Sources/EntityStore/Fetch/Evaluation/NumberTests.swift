/// Comparisons of numbers and dates with constants, combined by AND, in a flat list.
///
/// A scan evaluates them on every record; walking the predicate's tree takes several times as long
/// as the comparisons.
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

  /// Creates the list from a predicate.
  ///
  /// - Returns: `nil` if the predicate contains anything else.
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

  /// Returns true if all comparisons are true; a comparison with null is not.
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
