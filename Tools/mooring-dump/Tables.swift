import ArgumentParser
import Console
import EntityModel
import EntityStore

struct Tables: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Lists the trees of the file with their purposes and sizes.",
    discussion: """
      mooring-dump tables --format json
      """)

  @OptionGroup var options: StoreOptions
  @Option(help: OutputFormat.allHelp) var format = OutputFormat.table

  func run() async throws {
    let statistics = try options.openToRead().statistics()
    let numbers = ["entries", "depth", "pages", "bytes"]
    try StandardOutput.with { output in
      var rows = RowWriter(titles: ["tree", "what"] + numbers, format: format)
      for tree in statistics.trees {
        let sizes = [tree.entries, tree.depth, tree.pages, tree.bytes]
        try rows.write(
          [.string(tree.name), .string(tree.content.text)] + sizes.map { .int64(Int64($0)) },
          &output)
      }
      try rows.end(&output)
    }
  }
}

extension StoredTree.Content {
  fileprivate var text: String {
    switch self {
    case .freeList: "pages to use again"
    case .names: "names of the trees"
    case .catalog: "catalog"
    case .history: "history"
    case .records(let entity): "records of \(entity)"
    case .index(let entity, let name): "index \(entity).\(name)"
    case .build(let entity): "what a migration builds of \(entity)"
    case .orphan: "orphan: nothing in the catalog names it"
    }
  }
}
