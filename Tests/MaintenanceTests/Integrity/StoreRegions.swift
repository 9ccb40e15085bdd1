/// The bytes of a data file that are in use, by what they are part of.
struct StoreRegions {
  enum Region: String, CaseIterable, Sendable {
    case records, indexes, history, catalog, treeNames, freeList, metaPages, branchPages
  }

  private static let pageSize = 4_096
  private let file: [UInt8]
  /// The offsets of the bytes.
  private(set) var places: [Region: [Int]] = [:]

  /// Reads the newest commit of an undamaged file.
  init(_ file: [UInt8]) {
    self.file = file
    for page in 0..<2 { add(page * Self.pageSize..<page * Self.pageSize + 152, to: .metaPages) }
    let newest = number(144) > number(Self.pageSize + 144) ? 0 : Self.pageSize
    walk(number(newest + 80), .freeList)
    walk(number(newest + 128), .treeNames)
  }

  private mutating func walk(_ page: UInt64, _ region: Region) {
    guard page != .max else { return }
    let start = Int(page) * Self.pageSize
    let isBranch = file[start + 10] & 1 != 0
    let (lower, upper) = (Int(number16(start + 12)), Int(number16(start + 14)))
    let pageRegion = isBranch ? .branchPages : region
    add(start..<start + lower, to: pageRegion)
    add(start + upper..<start + Self.pageSize, to: pageRegion)
    for place in stride(from: start + 16, to: start + lower, by: 2) {
      let node = start + Int(number16(place))
      let (low, flags) = (number32(node), number16(node + 4))
      if isBranch {
        walk(UInt64(low) | UInt64(flags) << 32, region)
        continue
      }
      let value = node + 8 + Int(number16(node + 6))
      if flags & 1 != 0 {
        let overflow = Int(number(value)) * Self.pageSize
        add(overflow..<overflow + 16 + Int(low), to: region)
      } else if flags & 2 != 0 {
        let name = String(decoding: file[node + 8..<value], as: UTF8.self)
        walk(number(value + 40), Self.region(ofTree: name))
      }
    }
  }

  private static func region(ofTree name: String) -> Region {
    switch name {
    case "catalog": .catalog
    case "history": .history
    default: name.hasPrefix("r.") ? .records : .indexes
    }
  }

  private mutating func add(_ range: Range<Int>, to region: Region) {
    places[region, default: []] += range
  }

  private func number(_ place: Int) -> UInt64 {
    file.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: place, as: UInt64.self) }
  }

  private func number32(_ place: Int) -> UInt32 {
    file.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: place, as: UInt32.self) }
  }

  private func number16(_ place: Int) -> UInt16 {
    file.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: place, as: UInt16.self) }
  }
}
