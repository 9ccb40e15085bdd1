import Testing
import TextFormats

@Suite struct BytesTests {
  @Test func aBufferHasTheBytesThatWereAppended() {
    var buffer = ByteBuffer()
    var expected: [UInt8] = []
    for count in [0, 1, 63, 0, 64, 7, 1_000, 3] {
      let bytes = [UInt8](repeating: UInt8(truncatingIfNeeded: count), count: count)
      bytes.withUnsafeBytes { buffer.append($0) }
      expected += bytes
      #expect(buffer.withUnsafeBytes { Array($0) } == expected)
    }
    let copy = buffer
    buffer.truncate(to: 65)
    [UInt8](repeating: 9, count: 2).withUnsafeBytes { buffer.append($0) }
    #expect(buffer.withUnsafeBytes { Array($0) } == expected[..<65] + [9, 9])
    #expect(copy.withUnsafeBytes { Array($0) } == expected)
  }

  @Test(arguments: [0, 7, -1, 10, 4_294_967_296, .max, .min] as [Int64])
  func aNumberIsWrittenInItsDigits(_ number: Int64) {
    var bytes = Array("x".utf8)
    bytes.appendDecimal(number)
    #expect(String(decoding: bytes, as: UTF8.self) == "x\(number)")
  }
}
