import LMDB
import TestSupport
import Testing

@Suite struct TransactionTests {
  @Test func aCommittedValueIsReadBack() throws {
    try withTemporaryFolder { folder in
      let environment = try Environment.open(
        at: folder.path("store"), options: .init(createIfMissing: true))
      let tree = try environment.write { transaction in
        let tree = try environment.createTree(named: "a", in: transaction)
        try transaction.put(tree, key: [1], value: [2, 3])
        return tree
      }
      try environment.read { transaction in
        try #expect(transaction.get(tree, [1]).map(Array.init) == [2, 3])
        try #expect(transaction.get(tree, [2]) == nil)
        try #expect(environment.tree(named: "b", in: transaction) == nil)
        try #expect(transaction.count(tree) == 1)
      }
    }
  }
}
