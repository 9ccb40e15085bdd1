import TestSupport

/// The share of what was not flushed that reaches the disk before the power is lost.
struct Loss: Sendable, CustomStringConvertible {
  /// The bytes that a disk writes as a whole.
  let sectorBytes: Int
  /// The probability that a sector has its last content.
  let sectors: Double
  /// The probability that a file has its last size.
  let growth: Double
  /// The probability that the next change of a folder is kept.
  let names: Double

  /// Draws a loss. Losing all and losing nothing are common.
  init(using random: inout SeededRandom) {
    sectorBytes = random.pick([512, 4_096])
    sectors = random.pick([0, 0.05, 0.5, 0.95, 1])
    growth = random.pick([0, 0.5, 1])
    names = random.pick([0, 0.5, 1])
  }

  private init(everythingBy sectorBytes: Int) {
    (self.sectorBytes, sectors, growth, names) = (sectorBytes, 0, 0, 0)
  }

  /// All that was not flushed is lost.
  static let everything = Loss(everythingBy: 4_096)

  var description: String {
    "sectors of \(sectorBytes) bytes, \(sectors) of them kept, growth \(growth), names \(names)"
  }
}

/// A file: what a flush has put on the disk, and the changes since.
struct DiskFile: Sendable {
  enum Change: Sendable {
    case write(offset: Int, ArraySlice<UInt8>)
    case resize(Int)
  }

  struct NotModelled: Error, CustomStringConvertible { let description: String }

  private var flushed: [UInt8]
  private var changes: [Change] = []

  /// Creates a file whose content is on the disk.
  init(flushed: [UInt8] = []) { self.flushed = flushed }

  /// The content that processes see.
  var content: [UInt8] {
    var bytes = flushed
    for change in changes {
      bytes.resize(to: change.size(after: bytes.count))
      if case .write(let offset, let written) = change {
        bytes.overwrite(at: offset, with: written)
      }
    }
    return bytes
  }

  mutating func add(_ change: Change) { changes.append(change) }

  mutating func flush() {
    flushed = content
    changes = []
  }

  /// Flushes the sectors of a range, as a write with `O_DSYNC` does at its end.
  mutating func flush(_ range: Range<Int>) throws {
    let content = content
    let least = 512
    let lower = range.lowerBound / least * least
    let upper = min(content.count, (range.upperBound + least - 1) / least * least)
    changes = try changes.flatMap { change -> [Change] in
      guard case .write(let offset, let bytes) = change else {
        throw NotModelled(description: "a file that is cut and written with O_DSYNC")
      }
      // What is left of the write before and after the range.
      let before = bytes.prefix(max(0, lower - offset))
      let after = bytes.suffix(max(0, offset + bytes.count - upper))
      return [
        before.isEmpty ? nil : .write(offset: offset, before),
        after.isEmpty ? nil : .write(offset: offset + bytes.count - after.count, after),
      ].compactMap { $0 }
    }
    flushed.resize(to: max(flushed.count, upper))
    flushed.overwrite(at: lower, with: content[lower..<upper])
  }

  /// Returns the content that the disk may have when the power is lost.
  ///
  /// A sector has its content after one of the changes that concern it, or before all of them; each
  /// sector by itself. The size is that after one of the changes, or one on the way to it. A sector
  /// that has been lost while the size has grown over it is zero.
  func content(after loss: Loss, using random: inout SeededRandom) -> [UInt8] {
    if changes.isEmpty { return flushed }
    let sizes = sizes
    var kept = keptChanges(of: sizes, after: loss, using: &random)
    var bytes = flushed
    bytes.resize(to: sizes.max() ?? 0)
    for (number, change) in changes.enumerated() {
      let range = change.range(sizeBefore: sizes[number])
      for sector in sectors(of: range, loss.sectorBytes) {
        guard let left = kept[sector], left > 0 else { continue }
        kept[sector] = left - 1
        let start = sector * loss.sectorBytes
        let part = range.clamped(to: start..<start + loss.sectorBytes)
        switch change {
        case .write(let offset, let written):
          let shift = written.startIndex - offset
          bytes.overwrite(
            at: part.lowerBound,
            with: written[shift + part.lowerBound..<shift + part.upperBound])
        case .resize:
          bytes.overwrite(at: part.lowerBound, with: [UInt8](repeating: 0, count: part.count)[...])
        }
      }
    }
    bytes.resize(to: size(of: sizes, after: loss, using: &random))
    return bytes
  }

  /// The sizes before the first change and after each.
  private var sizes: [Int] {
    changes.reduce(into: [flushed.count]) { sizes, change in
      sizes.append(change.size(after: sizes[sizes.count - 1]))
    }
  }

  /// Returns the number of changes that each sector keeps, of those that concern it.
  private func keptChanges(
    of sizes: [Int], after loss: Loss, using random: inout SeededRandom
  ) -> [Int: Int] {
    var counts: [Int: Int] = [:]
    for (number, change) in changes.enumerated() {
      let range = change.range(sizeBefore: sizes[number])
      for sector in sectors(of: range, loss.sectorBytes) { counts[sector, default: 0] += 1 }
    }
    for sector in counts.keys.sorted() {
      guard let count = counts[sector], !random.isTrue(loss.sectors) else { continue }
      counts[sector] = loss.sectors == 0 ? 0 : random.number(0...count - 1)
    }
    return counts
  }

  private func sectors(of range: Range<Int>, _ sectorBytes: Int) -> Range<Int> {
    if range.isEmpty { return 0..<0 }
    return range.lowerBound / sectorBytes..<(range.upperBound - 1) / sectorBytes + 1
  }

  private func size(
    of sizes: [Int], after loss: Loss, using random: inout SeededRandom
  ) -> Int {
    if loss.growth == 0 { return sizes[0] }
    let last = sizes.count - 1
    let number = random.isTrue(loss.growth) ? last : random.number(0...last)
    guard number > 0, loss.growth < 1, sizes[number] > sizes[number - 1], random.oneIn(2) else {
      return sizes[number]
    }
    let size = random.number(sizes[number - 1]...sizes[number])
    return min(sizes[number], (size / loss.sectorBytes + 1) * loss.sectorBytes)
  }
}

extension DiskFile.Change {
  fileprivate func size(after size: Int) -> Int {
    switch self {
    case .write(let offset, let bytes): max(size, offset + bytes.count)
    case .resize(let size): size
    }
  }

  /// The bytes that the change gives another content.
  fileprivate func range(sizeBefore: Int) -> Range<Int> {
    switch self {
    case .write(let offset, let bytes): offset..<offset + bytes.count
    case .resize(let size): min(size, sizeBefore)..<sizeBefore
    }
  }
}

extension [UInt8] {
  fileprivate mutating func resize(to size: Int) {
    if size < count { removeLast(count - size) }
    if size > count { self += [UInt8](repeating: 0, count: size - count) }
  }

  fileprivate mutating func overwrite(at offset: Int, with bytes: ArraySlice<UInt8>) {
    // SAFETY: the slice of the buffer has the size of the source, and its bounds are checked.
    bytes.withUnsafeBytes { source in
      withUnsafeMutableBytes { target in
        UnsafeMutableRawBufferPointer(rebasing: target[offset..<offset + source.count])
          .copyMemory(from: source)
      }
    }
  }
}

extension SeededRandom {
  fileprivate mutating func isTrue(_ probability: Double) -> Bool {
    Double.random(in: 0..<1, using: &self) < probability
  }
}
