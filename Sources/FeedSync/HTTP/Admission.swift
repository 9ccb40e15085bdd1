/// Decides which waiting transfers may start: at most so many per host and in all, in the order
/// they came, except that a host whose places are taken holds up no other host.
///
/// libcurl's own limits are not used, because its timeout runs while a transfer waits in its
/// queue (`reference/feed-sync.md`, 2.1, row 51).
struct Admission<Element> {
  private let perHost: Int
  private let total: Int
  private var waiting: [(host: String, element: Element)] = []
  private var active: [String: Int] = [:]
  private var activeTotal = 0

  init(perHost: Int, total: Int) {
    precondition(perHost > 0 && total > 0, "nothing would ever start")
    self.perHost = perHost
    self.total = total
  }

  mutating func enqueue(_ element: Element, host: String) {
    waiting.append((host, element))
  }

  /// The next element that may start, which takes a place; nil when none may. O(waiting).
  mutating func admit() -> Element? {
    guard activeTotal < total,
      let index = waiting.firstIndex(where: { active[$0.host, default: 0] < perHost })
    else { return nil }
    let (host, element) = waiting.remove(at: index)
    active[host, default: 0] += 1
    activeTotal += 1
    return element
  }

  /// Gives a place back.
  mutating func release(host: String) {
    guard let count = active[host] else { preconditionFailure("no place of \(host) is taken") }
    active[host] = count > 1 ? count - 1 : nil
    activeTotal -= 1
  }

  /// Takes out the waiting elements that the condition names.
  mutating func removeAll(where condition: (Element) -> Bool) -> [Element] {
    let removed = waiting.filter { condition($0.element) }
    waiting.removeAll { condition($0.element) }
    return removed.map(\.element)
  }
}
