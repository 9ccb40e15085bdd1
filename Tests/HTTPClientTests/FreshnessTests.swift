import Foundation
import Testing

@testable import HTTPClient

@Suite struct FreshnessTests {
  private let now = Date(timeIntervalSince1970: 784_111_777)
  private let date = "Sun, 06 Nov 1994 08:49:37 GMT"

  private func promise(_ headers: (String, String)...) -> Int? {
    Freshness.promise(
      of: HTTPResponse(status: 200, headers: headers, effectiveURL: "http://a.example/"), now: now)
  }

  @Test(
    arguments: [
      ("max-age=900", 900), ("Private, MAX-AGE = 900", 900), ("max-age=\"60\"", 60),
      ("x=\"a, max-age=1\", max-age=7", 7), ("max-age=90, max-age=30", 30), ("max-age=-1", 0),
      ("max-age=soon", 0), ("max-age", 0), ("max-age=1.5", 0), ("no-cache, max-age=900", 0),
      ("no-store", 0), ("max-age=99999999999999999999", 1 << 31), ("no-cache=\"x\"", 0),
    ] as [(String, Int)])
  func cacheControlIsRead(_ text: String, _ seconds: Int) {
    #expect(promise(("cache-control", text)) == seconds)
  }

  @Test(arguments: ["private", "must-revalidate", "s-maxage=60", "", ",,"])
  func aResponseWithoutFreshnessHeadersPromisesNothing(_ text: String) {
    #expect(promise(("Cache-Control", text)) == nil)
  }

  @Test func allHeadersOfTheNameCount() {
    #expect(
      promise(("Cache-Control", "max-age=900"), ("Cache-Control", "no-cache")) == 0)
    #expect(promise() == nil)
  }

  @Test(arguments: [("100", 800), ("0", 900), ("5000", 0), ("-5", 900), ("x", 900)])
  func theAgeIsSubtracted(_ age: String, _ seconds: Int) {
    #expect(promise(("Cache-Control", "max-age=900"), ("Age", age)) == seconds)
  }

  @Test func expiresIsMeasuredByTheAnswersOwnClock() {
    let expires = ("Expires", "Sun, 06 Nov 1994 09:49:37 GMT")
    #expect(promise(expires, ("Date", date)) == 3_600)
    #expect(promise(expires, ("Date", "Sun, 06 Nov 1994 09:39:37 GMT")) == 600)
    #expect(promise(expires) == 3_600, "by the local clock if there is no other")
    #expect(promise(("Expires", date), ("Date", date)) == 0)
    #expect(promise(("Expires", "0"), ("Date", date)) == 0)
    #expect(
      promise(("Expires", "Sat, 01 Jan 9999 00:00:00 GMT"), ("Date", date)) == 1 << 31)
    #expect(promise(("Cache-Control", "max-age=5"), expires, ("Date", date)) == 5)
  }
}
