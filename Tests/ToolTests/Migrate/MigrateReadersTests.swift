import Foundation
import TestSupport
import Testing

/// Looking changes nothing, whatever is pending.
@Suite struct MigrateReadersTests {
  @Test func readingDoesNotMigrateTheStore() throws {
    try withCities(pending: [Cities.second]) { store in
      let before = try bytes(store)
      let commands = [
        ["migrate", "status"], ["migrate", "plan"], ["migrate", "plan", "--format", "json"],
        ["migrate", "contract", "--dry-run"], ["home"], ["fetch", "City", "--count"], ["check"],
        ["schema"], ["feed", "list"],
      ]
      for arguments in commands {
        let run = try run("mooring", arguments, store: store, environment: environment(store))
        #expect(run.status == 0, "\(arguments) \(run.errors)")
        #expect(try bytes(store) == before, "\(arguments)")
      }
      let check = try migrate("status", "--check", store: store)
      #expect(check.status == 78)
      for arguments in [
        ["schema"], ["records", "City", "--limit", "3"], ["history"], ["tables"], ["stats"],
      ] {
        let run = try run("mooring-dump", arguments, store: store, environment: environment(store))
        #expect(run.status == 0, "\(arguments) \(run.errors)")
        #expect(try bytes(store) == before, "\(arguments)")
      }
    }
  }

  private func bytes(_ store: String) throws -> Data {
    try Data(contentsOf: URL(fileURLWithPath: store + "/data.mdb"))
  }
}
