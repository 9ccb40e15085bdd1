/// The pages that the file does not use, some of which still have deleted rows.
struct FreePages {
  private(set) var pages: Set<Int> = []
  /// False if the list of free pages cannot be read to its end: other pages may be free, too.
  private(set) var isComplete = true

  /// - Parameter used: The pages of trees, which are not free whatever the list says.
  init(_ file: DatabasePages, used: Set<Int>) throws {
    var next = file.freelist.first
    while next != 0 {
      guard !pages.contains(next), let trunk = try Trunk(next, file) else {
        isComplete = false
        break
      }
      pages.insert(next)
      pages.formUnion(trunk.leaves)
      next = trunk.next
    }
    if pages.count < file.freelist.count { isComplete = false }
    // Without a part of the list, the others are known by their form, which a page with a part of a
    // value may have, too.
    for number in stride(from: 2, through: file.inUse(used), by: 1)
    where !used.contains(number) && !pages.contains(number) {
      if try file.use(of: number) == .free { pages.insert(number) }
      if !isComplete, let trunk = try Trunk(number, file), !trunk.leaves.isEmpty,
        used.isDisjoint(with: trunk.leaves)
      {
        pages.insert(number)
        pages.formUnion(trunk.leaves)
      }
    }
    if pages.count >= file.freelist.count, file.freelist.count > 0 { isComplete = true }
    pages.subtract(used)
  }

  /// A page of the list: the next one, the number of free pages, and these.
  private struct Trunk {
    let next: Int
    let leaves: Set<Int>

    init?(_ number: Int, _ file: DatabasePages) throws {
      guard let bytes = try file.bytes(of: number), bytes.count >= 8 else { return nil }
      let count = Int(bytes.bigEndian32(at: 4))
      next = Int(bytes.bigEndian32(at: 0))
      let last = max(file.stated, file.count)
      guard next <= last, count <= file.usable / 4 - 2, 8 + 4 * count <= bytes.count else {
        return nil
      }
      leaves = Set((0..<count).map { Int(bytes.bigEndian32(at: 8 + 4 * $0)) })
      guard leaves.count == count, leaves.allSatisfy({ $0 > 1 && $0 <= last }) else {
        return nil
      }
    }
  }
}
