import Foundation
import TestSupport
import Testing

@Suite struct MigratePlanTests {
  @Test func aPlanShowsHowEachStepRuns() throws {
    try withCities(pending: [Cities.second]) { store in
      let plan = try migrate("plan", store: store)
      #expect(plan.status == 0 && plan.errors.isEmpty)
      let lines = plan.lines
      try #require(lines.count == 7, "\(plan.output)")
      #expect(
        lines[0].split(separator: " ") == ["migration", "step", "how", "records", "time", "room"])
      #expect(
        lines[1].contains("set size of City") && lines[1].contains(" online ")
          && lines[1].contains(" 30,000 "))
      #expect(lines[2].contains("create index City.bySize") && lines[2].contains("online"))
      #expect(
        lines[3].contains("add attribute City.note (string)") && lines[3].hasSuffix("catalog only"))
      #expect(lines.last == "to do it, type `mooring migrate up`")
      #expect(lines.contains { $0.hasPrefix("needs ") && $0.contains("; there are ") })
    }
  }

  @Test func lossesAreMarked() throws {
    try withCities(pending: [Cities.second, Cities.drop]) { store in
      let plan = try migrate("plan", store: store)
      #expect(plan.lines.first?.hasSuffix("loses") == true, "\(plan.errors)")
      #expect(plan.output.contains("the store is copied first, as something is lost: "))
      #expect(plan.lines.last == "to do it, type `mooring migrate up --allow-destructive`")
      let whole = try json(try migrate("plan", "--format", "json", store: store))
      #expect(whole["isDestructive"] as? Bool == true && whole["backupBytes"] as? Int ?? 0 > 0)
      let steps = try #require(whole["steps"] as? [[String: Any]])
      #expect(steps.map { $0["loss"] != nil } == [false, false, false, true])
      #expect(steps.map { $0["mode"] as? String } == ["online", "online", "catalog", "catalog"])
      let spared = try json(try migrate("plan", "--format", "json", "--no-backup", store: store))
      #expect(spared["backupBytes"] as? Int == 0)
      let part = try migrate("plan", "--to", "local@2", store: store)
      #expect(part.lines.last == "to do it, type `mooring migrate up --to local@2`")
      expectFailure(try migrate("plan", "--format", "csv", store: store), 64, "table or json")
    }
  }
}
