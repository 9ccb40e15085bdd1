import HTTPClient
import Testing

@testable import FeedSync

@Suite struct FreshnessLifetimeTests {
  @Test func theLongerPromiseCountsWithinBounds() {
    func lifetime(_ seconds: Int?, ttl: Int64?, isOwn: Bool = false) -> Int64? {
      Freshness.lifetime(seconds, timeToLive: ttl, isOwn: isOwn)
    }
    #expect(lifetime(nil, ttl: nil) == nil)
    #expect(lifetime(0, ttl: nil) == nil, "a server that wants to be asked each time")
    #expect(lifetime(0, ttl: 3_600) == 3_600)
    #expect(lifetime(7_200, ttl: 3_600) == 7_200)
    #expect(lifetime(30, ttl: nil) == 900)
    #expect(lifetime(30, ttl: 45, isOwn: true) == 60)
    #expect(lifetime(300, ttl: nil, isOwn: true) == 300)
    #expect(lifetime(1 << 31, ttl: nil) == 86_400)
    #expect(lifetime(nil, ttl: .max, isOwn: true) == 86_400)
    #expect(lifetime(nil, ttl: -5) == nil)
  }
}
