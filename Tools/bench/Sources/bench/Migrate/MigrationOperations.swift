// What `bench migrate` measures.
extension Operation {
  static let addAttribute = Operation("add a defaulted attribute", "ms")
  static let buildIndex = Operation("index of two keys, alone", "s")
  static let filesWhileBuilding = Operation("  largest files then, of those before", "times")
  static let getIdle = Operation("point get, p99", "us")
  static let getWhileBuilding = Operation("  the same while building", "us")
  static let putMedian = Operation("another process's put while building, p50", "ms")
  static let putTail = Operation("  p99", "ms")
  static let putLongest = Operation("  longest", "ms")
  static let retype = Operation("retype an attribute", "s")
}
