/// A queue that limits how many elements are active per host and in total. Elements start in the
/// order they came, but a host at its limit does not block other hosts.
///
/// libcurl's own limits are not used, because its timeout includes the wait in its queue.
struct Admission<Element> {
  private let perHost: Int
  private let total: Int
  private var waiting: [(host: String, element: Element)] = []
  private var active: [String: Int] = [:]
  private var activeTotal = 0

  init(perHost: Int, total: Int) {
    precondition(perHost > 0 && total > 0, "limits of 0 would block everything")
    self.perHost = perHost
    self.total = total
  }

  mutating func enqueue(_ element: Element, host: String) {
    waiting.append((host, element))
  }

  /// Returns the next element that may start and counts it as active; nil if none may. O(waiting).
  mutating func admit() -> Element? {
    guard activeTotal < total,
      let index = waiting.firstIndex(where: { active[$0.host, default: 0] < perHost })
    else { return nil }
    let (host, element) = waiting.remove(at: index)
    active[host, default: 0] += 1
    activeTotal += 1
    return element
  }

  /// Ends an active element of the host.
  mutating func release(host: String) {
    guard let count = active[host] else { preconditionFailure("nothing is active for \(host)") }
    active[host] = count > 1 ? count - 1 : nil
    activeTotal -= 1
  }

  /// Removes and returns the waiting elements that match.
  mutating func removeAll(where condition: (Element) -> Bool) -> [Element] {
    let removed = waiting.filter { condition($0.element) }
    waiting.removeAll { condition($0.element) }
    return removed.map(\.element)
  }
}
