import Foundation
import TestSupport
import Testing

/// The output of `mooring fetch`, which writes no message.
func fetch(
  _ store: String, _ arguments: String..., sourceLocation: SourceLocation = #_sourceLocation
) throws -> String {
  let run = try run("mooring", ["fetch"] + arguments, store: store)
  #expect(run.status == 0, "\(run.errors)", sourceLocation: sourceLocation)
  #expect(run.errors.isEmpty, "\(run.errors)", sourceLocation: sourceLocation)
  return run.output
}

/// The output of `mooring fetch` on a store of known content: five episodes of 100 to 500 seconds.
@Suite struct FetchTests {
  private func rows(_ text: String) throws -> [[String: Any]] {
    try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [[String: Any]])
  }

  // MARK: Records

  @Test func aWholeRecordIsItsNumberAndAllAttributesWithTheirTypes() throws {
    try withSampleStore { store in
      let rows = try rows(fetch(store, "Episode", "--format", "json"))
      #expect(rows.map { $0["_id"] as? Int } == [1, 2, 3, 4, 5])
      #expect(rows.map { $0["title"] as? String } == SampleFeed.titles)
      #expect(rows[1]["progress"] as? Double == 0.5 && rows[1]["type"] as? Int == 3)
      #expect(rows[1]["watchedAt"] as? String == "2026-02-01T00:00:00Z")
      #expect(rows[0]["watchedAt"] is NSNull && rows[0].count == 25)
      let dump = try mooringDump("records", "Episode", "--format", "json", store: store)
      #expect(try fetch(store, "Episode", "--format", "json") == dump.output)
    }
  }

  @Test func predicateOrderAndWindowApplyInThisOrder() throws {
    try withSampleStore { store in
      let window = try fetch(
        store, "Episode", "--where", "duration > 100", "--sort", "updatedAt:desc", "--offset", "1",
        "--limit", "2", "--select", "id,duration")
      #expect(
        window == """
          id    duration
          ep:4       400
          ep:3       300

          """)
      #expect(try fetch(store, "Episode", "--limit", "0", "--select", "id") == "id\n")
      #expect(try fetch(store, "Episode", "--offset", "9", "--select", "id") == "id\n")
    }
  }

  @Test(arguments: [
    ("type,duration:desc", "3 4 1 5 2"), ("duration:desc", "5 4 3 2 1"),
    ("title:asc:binary", "4 1 5 2 3"), (" title : desc ", "3 2 5 1 4"),
    ("title:caseInsensitive", "4 5 2 1 3"), ("title:localized:desc", "3 1 2 5 4"),
    ("type:desc,title:localized(de)", "5 2 4 1 3"), ("path.title,duration:desc", "5 4 3 2 1"),
  ])
  func sortKeysHaveADirectionAndACollation(_ sort: String, _ order: String) throws {
    try withSampleStore { store in
      let numbers = try fetch(
        store, "Episode", "--sort", sort, "--select", "_id", "--format", "csv")
      #expect(
        numbers.split(separator: "\r\n").dropFirst().joined(separator: " ") == order, "\(sort)")
    }
  }

  @Test(arguments: [
    ("title:caseInsensitive", "title caseInsensitive"),
    ("title:localized:desc", "title localized desc"),
    (" title : asc : localized(zh) , duration", "title localized(zh), duration"),
    (
      "title:desc:localized(de@collation=phonebook),url:binary",
      "title localized(de@collation=phonebook) desc, url"
    ),
  ])
  func ambiguousSortKeysAreParsed(_ sort: String, _ keys: String) throws {
    try withSampleStore { store in
      let plan = try fetch(store, "Episode", "--sort", sort, "--explain")
      #expect(plan.contains("\n  sort \(keys), in memory\n"), "\(plan)")
    }
  }

  @Test func columnsMayBeExpressionsWithANameOrWithout() throws {
    try withSampleStore { store in
      let text = try fetch(
        store, "Episode", "--where", "position <= 2", "--select",
        "_id, minutes = duration / 60.0, duration*2,one=1", "--format", "csv")
      #expect(
        text
          == "_id,minutes,duration*2,one\r\n1,1.6666666666666667,200,1\r\n2,3.3333333333333335,400,1\r\n"
      )
      let commas = try fetch(
        store, "Episode", "--limit", "1", "--select", "a=\"x, \\\"y\",b={\"p\", \"q\"},_id",
        "--format",
        "jsonl")
      #expect(commas == #"{"a":"x, \"y","b":["p","q"],"_id":1}"# + "\n")
      let url = try fetch(
        store, "Episode", "--limit", "1", "--select", "n=_id,url,title", "--format", "jsonl")
      #expect(
        url == #"{"n":1,"url":"https://example.org/1","title":"Walk, the long \"way\""}"# + "\n")
    }
  }

  @Test func distinctLeavesOutEqualRowsBeforeTheWindow() throws {
    try withSampleStore { store throws in
      let types = ["Episode", "--select", "type", "--distinct", "--sort", "type"]
      func answer(_ more: String...) throws -> String {
        try run("mooring", ["fetch"] + types + more, store: store).output
      }
      #expect(try answer() == "type\n   1\n   2\n   3\n")
      #expect(try answer("--offset", "1", "--limit", "1") == "type\n   2\n")
      #expect(try answer("--count") == "3\n")
    }
  }

  // MARK: Counts and identities

  @Test func aCountIsOneNumberInEveryFormat() throws {
    try withSampleStore { store throws in
      #expect(try fetch(store, "Episode", "--count") == "5\n")
      #expect(try fetch(store, "Episode", "--count", "--limit", "3") == "3\n")
      #expect(try fetch(store, "Episode", "--count", "--limit", "0") == "0\n")
      #expect(try fetch(store, "Episode", "--count", "--offset", "4") == "1\n")
      let filtered = ["Episode", "--count", "--where", "type == \"preview\"", "--format"]
      func answer(_ format: String) throws -> String {
        try run("mooring", ["fetch"] + filtered + [format], store: store).output
      }
      #expect(try answer("json") == "{\"count\":2}\n")
      #expect(try answer("jsonl") == "{\"count\":2}\n")
      #expect(try answer("csv") == "count\r\n2\r\n")
      #expect(try fetch(store, "Episode", "--count", "--group-by", "type") == "3\n")
    }
  }

  @Test func identitiesAreLinesThatPredicatesTake() throws {
    try withSampleStore { store in
      let ids = try fetch(store, "Episode", "--ids", "--sort", "duration:desc", "--limit", "2")
      #expect(ids == "Episode/5\nEpisode/4\n")
      #expect(try fetch(store, "Episode", "--ids", "--where", "duration > 900").isEmpty)
      let found = try fetch(
        store, "Episode", "--where", "SELF == $record", "--variable",
        "record=OBJECT \"Episode/4\"", "--select", "id")
      #expect(found == "id\nep:4\n")
      let rows = try rows(fetch(store, "Episode", "--ids", "--limit", "1", "--format", "json"))
      #expect(rows.count == 1 && rows[0]["object"] as? String == "Episode/1")
      let url = try #require(rows[0]["url"] as? String)
      #expect(url.hasPrefix("mooring://") && url.hasSuffix("/Episode/1"))
      let lines = try fetch(store, "Episode", "--ids", "--limit", "1", "--format", "csv")
      #expect(lines == "object,url\r\nEpisode/1,\(url)\r\n")
    }
  }

  // MARK: Groups

  @Test func groupsShowTheirKeysAndAggregates() throws {
    try withSampleStore { store in
      #expect(try fetch(store, "Episode", "--group-by", "type") == "type\n   1\n   2\n   3\n")
      let aggregates = "n=count:*,sum:duration,avg=average:duration, last=max:updatedAt"
      #expect(
        try fetch(
          store, "Episode", "--group-by", "type", "--aggregate", aggregates, "--sort", "n:desc,type"
        )
          == """
          type  n  sum(duration)    avg  last
             2  2            500  250.0  2026-01-04T00:00:00Z
             3  2            700  350.0  2026-01-05T00:00:00Z
             1  1            300  300.0  2026-01-03T00:00:00Z

          """)
      let large = try fetch(
        store, "Episode", "--group-by", "type,pathID", "--aggregate", "n=count:*", "--having",
        "n > 1 AND sum(duration) > 600", "--format", "jsonl")
      #expect(large == #"{"type":3,"pathID":"lp:1","n":2}"# + "\n")
      let chosen = try fetch(
        store, "Episode", "--group-by", "type", "--select", "hours=sum(duration)/100.0",
        "--format", "csv", "--limit", "1")
      #expect(chosen == "hours\r\n3.0\r\n")
    }
  }

  @Test func aggregatesWithoutGroupsAreOneRow() throws {
    try withSampleStore { store in
      let all = "count:*,count:watchedAt,countDistinct:type,min:title,sum:duration/100"
      let row = try fetch(store, "Episode", "--aggregate", all, "--format", "csv-exact")
      #expect(
        CommaSeparated.rows(of: row) == [
          [
            "count(*)", "count(watchedAt)", "countDistinct(type)", "min(title)",
            "sum(duration / 100)",
          ],
          ["5", "1", "3", SampleFeed.titles[3], "15"],
        ])
      let none = try fetch(
        store, "Episode", "--where", "duration < 0", "--aggregate", "n=count:*,total=sum:duration",
        "--format", "json")
      #expect(none == "[\n{\"n\":0,\"total\":null}\n]\n")
      let selected = try fetch(store, "Episode", "--select", "total=sum(duration)")
      #expect(selected == "total\n 1500\n")
    }
  }
}
