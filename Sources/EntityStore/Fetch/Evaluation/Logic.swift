/// True, false, or neither where null is compared.
package enum Logic {
  case yes, no, unknown

  @inline(__always)
  init(_ condition: Bool) { self = condition ? .yes : .no }

  var negated: Logic {
    switch self {
    case .yes: .no
    case .no: .yes
    case .unknown: .unknown
    }
  }
}
