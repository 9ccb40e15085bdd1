import Synchronization
import Testing

@testable import WebServer

@Suite struct EventSubscriberTests {
  private func read(_ subscriber: EventSubscriber, bytesMax: Int = 1_000) -> String? {
    var buffer = [UInt8](repeating: 0, count: bytesMax)
    let next = buffer.withUnsafeMutableBytes { subscriber.read(into: $0, wait: {}) }
    guard case .bytes(let count) = next else { return next == .end ? nil : "" }
    return String(decoding: buffer[..<count], as: UTF8.self)
  }

  @Test func aSlowClientGetsTheNewestOfEachName() {
    let channel = EventChannel()
    let subscriber = EventSubscriber {}
    channel.add(subscriber)
    #expect(read(subscriber) == "retry: 2000\n\n")
    channel.publish("a", "1")
    #expect(read(subscriber, bytesMax: 5) == "event")
    for number in 2...1_000 {
      channel.publish("a", "\(number)")
      channel.publish("b", "\(number)")
    }
    #expect(read(subscriber) == ": a\ndata: 1\n\n")
    #expect(read(subscriber) == "event: a\ndata: 1000\n\n")
    #expect(read(subscriber) == "event: b\ndata: 1000\n\n")
    #expect(read(subscriber) == "")
  }

  @Test func eachLineOfTheDataIsAField() {
    let channel = EventChannel()
    let subscriber = EventSubscriber {}
    channel.add(subscriber)
    _ = read(subscriber)
    channel.publish("a\nid: 1", "1\n2\r\n3\r\n\nevent: x")
    #expect(
      read(subscriber) == "event: aid: 1\ndata: 1\ndata: 2\ndata: 3\ndata: \ndata: event: x\n\n")
  }

  @Test func onlyAClientThatWaitsIsWokenAndOnlyOnce() {
    let wakes = Atomic(0)
    let subscriber = EventSubscriber { wakes.add(1, ordering: .relaxed) }
    subscriber.offer("a", [1])
    #expect(wakes.load(ordering: .relaxed) == 0)
    while read(subscriber) != "" {}
    subscriber.offer("a", [1])
    subscriber.offer("b", [1])
    subscriber.offerHeartbeat()
    #expect(wakes.load(ordering: .relaxed) == 1)
    while read(subscriber) != "" {}
    subscriber.offerHeartbeat()
    #expect(wakes.load(ordering: .relaxed) == 2)
    #expect(read(subscriber) == ":\n\n")
    #expect(read(subscriber) == "")
    subscriber.end()
    subscriber.end()
    subscriber.offer("a", [1])
    #expect(wakes.load(ordering: .relaxed) == 3)
    #expect(read(subscriber) == nil)
  }
}
