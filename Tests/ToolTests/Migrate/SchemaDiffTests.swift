import Foundation
import TestSupport
import Testing

@Suite struct SchemaDiffTests {
  @Test func theSchemaIsShownWithoutASubcommand() throws {
    try withCities { store in
      let all = try mooring("schema", store: store)
      #expect(all.status == 0 && all.output.contains("City"))
      #expect(try mooring("schema", "show", store: store).output == all.output)
      #expect(try mooring("schema", "City", "--as", "yaml", store: store).output.contains("City"))
      expectFailure(try mooring("schema", "Citi", store: store), 64, "did you mean \"City\"")
      expectFailure(
        try mooring("schema", "City", "--as", "text", store: store), 64, "'text' is invalid")
    }
  }

  @Test func aFolderOfMigrationsIsCompared() throws {
    try withCities(pending: [Cities.second]) { store in
      let folder = try #require(environment(store)["MOORING_MIGRATIONS"])
      let diff = try mooring("schema", "diff", folder, store: store)
      #expect(diff.status == 0, "\(diff.errors)")
      #expect(diff.lines.count == 2)
      #expect(diff.output.contains("City.note") && diff.output.contains("City.bySize"))
      #expect(try mooring("schema", "diff", folder, "--check", store: store).status == 78)
      #expect(try migrate("up", store: store).status == 0)
      let same = try mooring("schema", "diff", folder, "--check", store: store)
      #expect(same.status == 0 && same.output.isEmpty)
      #expect(same.errors == "mooring: the schemas are the same\n")
    }
  }

  @Test func theMigrationThatIsWrittenClosesTheDifference() throws {
    let other = try withCities(pending: [Cities.second]) { store in
      #expect(try migrate("up", store: store).status == 0)
      return [UInt8](try Data(contentsOf: URL(fileURLWithPath: store + "/data.mdb")))
    }
    try withTemporaryFolder { folder in
      let path = folder.path("other")
      try SampleStore.write(other, to: path)
      try withCities { store in
        let migrations = try #require(environment(store)["MOORING_MIGRATIONS"])
        let written = try mooring(
          "schema", "diff", path, "--write", migrations, "--line", "local", store: store,
          environment: environment(store))
        #expect(written.status == 0, "\(written.errors)")
        #expect(written.errors.contains("wrote \(migrations)/0002_difference.yaml"))
        #expect(try migrate("lint", store: store).status == 0)
        #expect(try migrate("up", store: store).status == 0)
        let same = try mooring("schema", "diff", path, "--check", store: store)
        #expect(same.status == 0, "\(same.output)")
      }
    }
  }

  @Test func schemasThatCannotBeComparedAreReported() throws {
    try withCities { store in
      func diff(_ arguments: String...) throws -> ToolRun {
        try run("mooring", ["schema", "diff"] + arguments, store: store)
      }
      expectFailure(try diff(store + "/none"), 78, store + "/none")
      expectFailure(try diff(store + "x", "--write", store), 64, "--line")
      let empty = store + "/empty"
      try FileManager.default.createDirectory(atPath: empty, withIntermediateDirectories: true)
      expectFailure(try diff(empty), 69, "neither a store nor migration files")
      expectFailure(
        try run("mooring", ["schema", "diff", empty], store: store + "/none"), 69, "no store")
    }
  }
}
