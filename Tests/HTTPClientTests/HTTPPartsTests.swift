import Foundation
import Testing

@testable import HTTPClient

@Suite struct HeaderCollectorTests {
  private func collect(_ lines: [String]) -> [String] {
    var collector = HeaderCollector()
    for line in lines { Array(line.utf8).withUnsafeBytes { collector.append(line: $0) } }
    return collector.headers.map { "\($0.name)=\($0.value)" }
  }

  @Test func onlyTheLastAnswersHeadersAreKept() {
    #expect(
      collect([
        "HTTP/1.1 103 Early Hints\r\n", "ETag: hint\r\n", "\r\n", "HTTP/1.1 200 OK\r\n",
        "ETag:  final \t\r\n", "\r\n", "ETag: trailer\r\n",
      ]) == ["ETag=final"])
  }

  @Test func foldedLinesAreJoined() {
    #expect(
      collect(["HTTP/1.1 200\r\n", "A: 1\r\n", " 2\r\n", "\t 3\r\n", "B:\n", " x\n", "\n"])
        == ["A=1 2 3", "B=x"])
  }

  @Test func aValueThatCouldNotBeSentBackIsLeftOut() {
    #expect(
      collect(["HTTP/2 200\r\n", "A: x\u{1}y\r\n", "B: \rz\r\n", "C: ok\r\n", "\r\n"]) == ["C=ok"])
  }

  @Test func textThatIsNotUTF8IsReadAsLatin1() {
    var collector = HeaderCollector()
    for line in [Array("HTTP/1.1 200\r\n".utf8), [65, 58, 0xE9, 13, 10], [13, 10]] {
      line.withUnsafeBytes { collector.append(line: $0) }
    }
    #expect(collector.headers.first?.value == "é")
  }
}

@Suite struct RetryAfterTests {
  private let date = ("Date", "Sun, 06 Nov 1994 08:49:37 GMT")

  @Test(
    arguments: [
      ("77", 77), ("0", 0), ("99999999999999999999999", Int.max), ("-5", nil), ("", nil),
      ("soon", nil), ("1.5", nil), ("Sun, 06 Nov 1994 08:51:37 GMT", 120),
      ("Sunday, 06-Nov-94 08:49:47 GMT", 10), ("Sun Nov  6 08:49:38 1994", 1),
      ("Sun, 06 Nov 1994 08:00:00 GMT", 0),
    ] as [(String, Int?)])
  func secondsAndDatesAreReadByTheServersClock(text: String, seconds: Int?) {
    #expect(retryAfterSeconds(in: [("retry-after", text), date], localSeconds: 999) == seconds)
  }

  @Test func withoutADateTheLocalClockDecides() {
    let headers = [(name: "Retry-After", value: "Sun, 06 Nov 1994 08:51:37 GMT")]
    #expect(retryAfterSeconds(in: headers, localSeconds: 5) == 5)
    #expect(retryAfterSeconds(in: headers, localSeconds: 0) == nil)
    #expect(retryAfterSeconds(in: [], localSeconds: 5) == nil)
  }
}

@Suite struct PaddedBytesTests {
  @Test(arguments: [0, 1, 63, 64, 16 << 10, (16 << 10) + 1, 1_000_000])
  func theContentIsFollowedByZeros(count: Int) {
    let content = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 | 1) }
    let bytes = PaddedBytes(content)
    #expect(bytes.count == count)
    bytes.withUnsafeBytes { buffer in
      #expect(buffer.elementsEqual(content))
      // SAFETY: the padding is part of the allocation, by contract.
      let end = buffer.baseAddress! + count
      #expect(
        (0..<PaddedBytes.padding).allSatisfy { end.load(fromByteOffset: $0, as: UInt8.self) == 0 })
    }
  }

  @Test func aBufferTakesExactlyItsLimitInWholeBlocks() {
    var buffer = PaddedBuffer(countMax: 100_000)
    let block = [UInt8](repeating: 1, count: 30_000)
    for _ in 0..<3 { #expect(block.withUnsafeBytes { buffer.append($0) }) }
    #expect(!block.withUnsafeBytes { buffer.append($0) })
    #expect(buffer.count == 90_000)
    #expect(block[..<10_000].withUnsafeBytes { buffer.append($0) })
    #expect(!block[..<1].withUnsafeBytes { buffer.append($0) })
    #expect(PaddedBytes(buffer).count == 100_000)
  }
}

@Suite struct AdmissionTests {
  @Test func aFullHostHoldsUpNoOther() {
    var admission = Admission<Int>(perHost: 2, total: 3)
    for (element, host) in ["a", "a", "a", "b", "b"].enumerated() {
      admission.enqueue(element, host: host)
    }
    #expect(admission.admit() == 0)
    #expect(admission.admit() == 1)
    #expect(admission.admit() == 3)
    #expect(admission.admit() == nil)
    admission.release(host: "b")
    #expect(admission.admit() == 4)
    admission.release(host: "a")
    #expect(admission.admit() == 2)
    admission.release(host: "a")
    #expect(admission.admit() == nil)
  }

  @Test func waitingElementsCanBeTakenOut() {
    var admission = Admission<Int>(perHost: 1, total: 1)
    for element in 0..<4 { admission.enqueue(element, host: "a") }
    #expect(admission.removeAll { $0.isMultiple(of: 2) } == [0, 2])
    #expect(admission.admit() == 1)
  }
}

@Suite struct HTTPResponseTests {
  @Test func headersAreFoundWhateverTheirCaseAndTheDateIsRead() {
    let response = HTTPResponse(
      status: 200,
      headers: [("date", "Sun, 06 Nov 1994 08:49:37 GMT"), ("ETag", "1"), ("etag", "2")],
      effectiveURL: "http://a.example/")
    #expect(response.header("ETAG") == "1")
    #expect(response.header("Expires") == nil)
    #expect(response.date == Date(timeIntervalSince1970: 784_111_777))
    #expect(response.body.isEmpty)
    #expect(HTTPResponse(status: 200, headers: [("Date", "0")], effectiveURL: "").date == nil)
  }
}
