import EntityModel
import FeedTestSupport
import Foundation
import HTTPClient
import Testing

@testable import FeedDocuments
@testable import FeedSync

/// The decisions of a run, without store, network and clock.
@Suite struct SyncMachineTests {
  private static let url = "https://feed.example/v1/home"
  private let now = Date(timeIntervalSince1970: 1_795_168_800)

  private func feed(_ change: (inout Feed) -> Void = { _ in }) -> Feed {
    var feed = Feed(url: Self.url, entity: "Episode", addedAt: now)
    change(&feed)
    return feed
  }

  private func machine(_ feed: Feed, isFull: Bool = false) throws -> SyncMachine {
    var options = SyncEngine.Options()
    options.isFull = isFull
    return SyncMachine(
      feed: feed, options: options, now: now, mappings: try mappings(),
      mapper: ItemMapper(targets: [:], defaultEntity: "Episode", feedID: 1, now: now))
  }

  private func mappings() throws -> FeedMappings {
    try FeedMappings(nil, schema: try TestSchema.homeFeed.get(), entity: "Episode")
  }

  private func response(_ status: Int = 200, url: String = url) -> HTTPResponse {
    HTTPResponse(status: status, headers: [("ETag", "\"1\"")], effectiveURL: url, wireBytes: 10)
  }

  private func answer(
    _ mode: FeedMode = .full, ids: [String] = ["a"], version: Int64? = nil, next: String? = nil
  ) throws -> SyncMachine.Event {
    var page = FeedPage(format: .homeFeed1, mode: mode)
    page.items = ids.map { FeedItem(id: $0, isDeleted: false, fields: []) }
    page.version = version
    page.next = next
    page.mappingHash = try mappings().hash(lastFormat: nil)
    return .answered(.page(page, response()))
  }

  /// The event of a page that was compared with the store.
  private func compared(
    _ machine: SyncMachine, news: Int = 1, isPending: Bool = true
  ) -> SyncMachine.Event {
    .compared(machine.report, newItems: news, hasChanges: isPending)
  }

  private func words(_ actions: [SyncMachine.Action]) -> [String] {
    actions.map { action in
      switch action {
      case .recordPublicAddress: "public"
      case .loadSeenRecords: "load"
      case .discardCheckpoint(let leavesGap): leavesGap ? "discard, gap" : "discard"
      case .fetch(let request): "fetch \(request.url.dropFirst(Self.url.count))"
      case .prefetch(let request): "prefetch \(request.url.dropFirst(Self.url.count))"
      case .compare: "compare"
      case .commit: "commit"
      case .finish: "finish"
      case .finishUnchanged: "unchanged"
      case .fail(let error as SyncError): "fail \(error.code)"
      case .fail: "fail"
      }
    }
  }

  @Test func aRunFetchesComparesAndFinishes() throws {
    var machine = try machine(feed())
    #expect(words(machine.handle(.started(.none))) == ["fetch "])
    #expect(words(machine.handle(try answer(version: 1))) == ["compare"])
    #expect(words(machine.handle(compared(machine))) == ["finish"])
    #expect(machine.deletesAbsent && !machine.isIncomplete)
    #expect(machine.report.pages == 1 && machine.report.requests == 1)
  }

  @Test func aDeltaStartsAtTheCheckpoint() throws {
    let hash = try mappings().hash(lastFormat: "homefeed/1")
    var machine = try machine(
      feed {
        ($0.checkpoint, $0.fullAt, $0.format) = ("c 1", now, "homefeed/1")
        $0.mappingHash = hash
      })
    #expect(words(machine.handle(.started(.none))) == ["fetch ?since=c%201"])
    #expect(words(machine.handle(.answered(.resync(response(410))))) == ["discard", "fetch "])
    #expect(
      words(machine.handle(.answered(.resync(response(410))))) == ["discard", "fail badDocument"])
  }

  @Test func aFullBatchIsCommittedWhileTheNextPageIsFetched() throws {
    var machine = try machine(feed())
    _ = machine.handle(.started(.none))
    let ids = (0..<1_000).map(String.init)
    _ = machine.handle(try answer(ids: ids, version: 1, next: "?page=1"))
    #expect(
      words(machine.handle(compared(machine)))
        == ["prefetch ?page=1", "commit", "fetch ?page=1"])
    #expect(machine.commits == 1)
    _ = machine.handle(try answer(ids: ["x"], version: 1, next: "?page=2"))
    #expect(words(machine.handle(compared(machine))) == ["fetch ?page=2"])
  }

  @Test func aFailedPageCommitsThePagesBeforeIt() throws {
    var machine = try machine(feed())
    _ = machine.handle(.started(.none))
    _ = machine.handle(try answer(version: 1, next: "?page=1"))
    _ = machine.handle(compared(machine))
    let error = HTTPError(.unreachable, Self.url)
    #expect(words(machine.handle(.fetchFailed(error))) == ["commit", "fail"])
    #expect(machine.checkpoint.next == Self.url + "?page=1")
  }

  @Test func aFailureWithoutChangesCommitsNothing() throws {
    var machine = try machine(feed())
    _ = machine.handle(.started(.none))
    #expect(words(machine.handle(.fetchFailed(HTTPError(.timeout, "")))) == ["fail"])
  }

  @Test(arguments: [FeedMode.full, .window])
  func aListingThatRepeatsAPageIsDiscarded(_ mode: FeedMode) throws {
    var machine = try machine(feed())
    _ = machine.handle(.started(.none))
    _ = machine.handle(try answer(mode, next: "?page=1"))
    _ = machine.handle(compared(machine))
    #expect(
      words(machine.handle(try answer(mode)))
        == ["commit", mode == .window ? "discard, gap" : "discard", "fail repeatedPage"])
  }

  @Test func aWindowEndsAtAPageWithoutNews() throws {
    let hash = try mappings().hash(lastFormat: nil)
    var machine = try machine(
      feed {
        $0.fullAt = now
        $0.mappingHash = hash
      })
    _ = machine.handle(.started(.none))
    _ = machine.handle(try answer(.window, next: "?page=1"))
    #expect(words(machine.handle(compared(machine, news: 0, isPending: false))) == ["finish"])
    #expect(machine.checkpoint.isNewestOnly && !machine.isIncomplete)
  }

  @Test func theFirstPageIsRequestedAgainWhereNoVersionPinsTheListing() throws {
    for (event, isComplete) in [
      (SyncMachine.Event.answered(.notModified(response(304))), true),
      (try answer(ids: ["new"]), false), (try answer(), true),
      (.fetchFailed(SyncError(.badDocument, "")), false),
    ] {
      var machine = try machine(feed())
      _ = machine.handle(.started(.none))
      _ = machine.handle(try answer(next: "?page=1"))
      _ = machine.handle(compared(machine))
      _ = machine.handle(try answer(ids: ["b"]))
      #expect(words(machine.handle(compared(machine))) == ["fetch "])
      #expect(words(machine.handle(event)) == ["finish"])
      #expect(machine.deletesAbsent == isComplete)
      #expect(machine.isIncomplete != isComplete)
    }
  }

  @Test func anUnmodifiedAnswerIsStoredOnlyIfItChangesSomething() throws {
    var machine = try machine(feed())
    _ = machine.handle(.started(.none))
    #expect(words(machine.handle(.answered(.notModified(response(304))))) == ["unchanged"])
    #expect(machine.report.outcome == .notModified)
    var known = try self.machine(feed { $0.etag = "\"1\"" })
    _ = known.handle(.started(.none))
    #expect(words(known.handle(.answered(.notModified(response(304))))) == [])
  }

  // MARK: Saved checkpoints

  /// A checkpoint as the program before wrote it.
  private func saved(_ mode: String, age: Double = 60) throws -> SyncMachine.SavedCheckpoint {
    let hash = try #require(mappings().hash(lastFormat: "homefeed/1"))
    let text = """
      {"mode":"\(mode)","startedAt":\(now.timeIntervalSince1970 - age),\
      "next":"\(Self.url)?page=3","settings":\(feed().settingsHash),"pages":3,"version":7,\
      "epoch":"e1","isPinned":true,"isWhole":true,"isNewestOnly":false,"isCut":false,\
      "visited":[1,2,3],"listings":[4,5,6],"firstListing":4,"listed":30,"format":"homefeed/1",\
      "title":"T","mappingHash":\(hash),\
      "first":{"etag":"\\"1\\"","url":"\(Self.url)","isFromPrivateAddress":false},\
      "report":{"feed":"\(Self.url)","mode":"\(mode)","new":30,"pages":3,"requests":3}}
      """
    let checkpoint = try JSONDecoder().decode(SyncCheckpoint.self, from: Data(text.utf8))
    return .saved(checkpoint, commits: 2)
  }

  @Test func aCheckpointOfThePreviousVersionIsResumed() throws {
    var machine = try machine(feed())
    #expect(words(machine.handle(.started(try saved("full")))) == ["load", "fetch ?page=3"])
    #expect(machine.report.isResumed && machine.report.new == 30 && machine.commits == 2)
    #expect(machine.checkpoint.first?.etag == "\"1\"")
  }

  /// Its stored names are those of the program before.
  @Test func theNamesOfACheckpointStay() throws {
    guard case .saved(let checkpoint, _) = try saved("full") else { return }
    let data = try JSONEncoder().encode(checkpoint)
    let members = try #require(JSONSerialization.jsonObject(with: data) as? [String: Any])
    #expect(
      members.keys.sorted() == [
        "epoch", "first", "firstListing", "format", "isCut", "isNewestOnly", "isPinned", "isWhole",
        "listed", "listings", "mappingHash", "mode", "next", "pages", "report", "settings",
        "startedAt", "title", "version", "visited",
      ])
  }

  @Test func aCheckpointThatDoesNotFitIsDiscarded() throws {
    for (saved, feed, isFull, first) in [
      (try saved("full", age: 3_600), feed(), false, "discard"),
      (try saved("full", age: -1), feed(), false, "discard"),
      (try saved("window", age: 3_600), feed(), false, "discard, gap"),
      (
        try saved("full"), feed { $0.secrets.set(FeedSecret(.bearer, .file("/t"))) }, false,
        "discard"
      ),
      (try saved("delta"), feed(), true, "discard"),
      (.unreadable, feed(), false, "discard, gap"),
    ] {
      var machine = try machine(feed, isFull: isFull)
      #expect(words(machine.handle(.started(saved))) == [first, "fetch "])
    }
  }
}
