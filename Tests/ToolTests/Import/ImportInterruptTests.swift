import Foundation
import Glibc
import TestSupport
import Testing

@Suite struct ImportInterruptTests {
  private static let books = isThorough ? 200_000 : 60_000

  @Test(.timeLimit(.minutes(5))) func theNextRunCompletesAnInterruptedOne() throws {
    try withOldLibrary(books: Self.books) { library in
      let tool = try started(library)
      try waitForRows(in: library)
      // Nobody else takes the file over meanwhile.
      expectFailure(
        try library.take("run", "--quiet"), 75, "another run of this import is in progress")
      #expect(try library.tool(["import", "status"]).lines.last?.contains("running") == true)
      kill(tool.pid, SIGINT)
      let stopped = try tool.finish()
      try #require(stopped.status == 130, "\(stopped.errors)")
      #expect(
        stopped.errors.hasSuffix(
          "mooring: interrupted; `mooring import run '\(library.file)' --mapping \(library.mapping)` "
            + "continues from here\n"), "\(stopped.errors)")
      let status = try library.tool(["import", "status", "library"])
      #expect(status.output.contains("state    interrupted\n"), "\(status.output)")
      #expect(status.output.contains("to resume it"))

      let next = try started(library).finish()
      #expect(next.status == 0 && next.output.contains("BALANCED: every"), "\(next.errors)")
      #expect(try library.count("Book") == "\(Self.books)\n")
      #expect(try library.tool(["import", "status"]).lines.last?.contains("balanced") == true)
    }
  }

  private func started(_ library: OldLibrary) throws -> StartedTool {
    try StartedTool(
      "mooring", ["import", "run", library.file, "--mapping", library.mapping],
      store: library.store)
  }

  /// Until a chunk of books is in the store.
  private func waitForRows(in library: OldLibrary) throws {
    let deadline = ContinuousClock.now + .seconds(60)
    while try library.count("Book") == "0\n" {
      try #require(ContinuousClock.now < deadline, "no row came within a minute")
    }
  }
}
