/// Writes a write-ahead log byte by byte, in either byte order of its checksums.
struct LogBytes {
  struct Frame {
    var page: UInt32
    var commit: UInt32 = 0
    var content: [UInt8]
  }

  var isBigEndian = false
  var pageSize = 512
  var salts: [UInt8] = [1, 2, 3, 4, 5, 6, 7, 8]
  var frames: [Frame] = []

  func bytes() -> [UInt8] {
    var sum: (UInt32, UInt32) = (0, 0)
    var bytes =
      big(isBigEndian ? 0x377f_0683 : 0x377f_0682) + big(3_007_000) + big(UInt32(pageSize)) + big(0)
    bytes += salts
    add(bytes, &sum)
    bytes += big(sum.0) + big(sum.1)
    for frame in frames {
      let head = big(frame.page) + big(frame.commit)
      add(head, &sum)
      add(frame.content, &sum)
      bytes += head + salts + big(sum.0) + big(sum.1) + frame.content
    }
    return bytes
  }

  private func add(_ bytes: [UInt8], _ sum: inout (UInt32, UInt32)) {
    for start in stride(from: 0, to: bytes.count, by: 8) {
      sum.0 = sum.0 &+ word(bytes, start) &+ sum.1
      sum.1 = sum.1 &+ word(bytes, start + 4) &+ sum.0
    }
  }

  private func word(_ bytes: [UInt8], _ start: Int) -> UInt32 {
    let four = bytes[start..<(start + 4)]
    return (isBigEndian ? Array(four) : four.reversed()).reduce(0) { $0 << 8 | UInt32($1) }
  }

  private func big(_ number: UInt32) -> [UInt8] {
    [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
  }
}
