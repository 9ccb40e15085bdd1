import LMDB
import SystemSupport
import TestSupport
import Testing

@Suite struct TransactionTests {
  @Test func aCommittedValueIsReadBack() throws {
    try withStore { environment in
      let tree = try environment.makeTree()
      try environment.write { try $0.put(tree, key: [1], value: [2, 3]) }
      try environment.read { transaction in
        try #expect(transaction.get(tree, [1]).map(Array.init) == [2, 3])
        try #expect(transaction.get(tree, [2]) == nil)
        try #expect(environment.tree(named: "b", in: transaction) == nil)
        try #expect(transaction.count(tree) == 1)
      }
    }
  }

  @Test func aThrowingWriteLeavesNothing() throws {
    try withStore { environment in
      let tree = try environment.makeTree()
      #expect(throws: CancellationError.self) {
        try environment.write { transaction in
          try transaction.put(tree, key: [1], value: [1])
          _ = try environment.createTree(named: "other", in: transaction)
          throw CancellationError()
        }
      }
      try #expect(environment.value(tree, [1]) == nil)
      try environment.read { transaction in
        try #expect(environment.treeNames(in: transaction) == ["tree"])
      }
      let other = try environment.makeTree("other")
      try environment.write { try $0.put(other, key: [5], value: [5]) }
      try #expect(environment.value(other, [5]) == [5])
    }
  }

  @Test(arguments: [false, true])
  func theNumberOfWritesGrowsThroughNestedTransactions(isUndone: Bool) throws {
    try withStore { environment in
      let tree = try environment.makeTree()
      try environment.write { transaction in
        try transaction.put(tree, key: [1], value: [1])
        let before = transaction.writes
        var within: [Int] = []
        let nested = Result {
          try transaction.nested { nested in
            within.append(nested.writes)
            for key in UInt8(2)...5 { try nested.put(tree, key: [key], value: [key]) }
            within.append(nested.writes)
            if isUndone { throw CancellationError() }
          }
        }
        #expect(((try? nested.get()) == nil) == isUndone)
        // No number occurs twice, so that what was read at one is never taken for another's.
        #expect(before < within[0] && within[0] < within[1] && within[1] < transaction.writes)
      }
    }
  }

  @Test func aSnapshotDoesNotSeeLaterCommits() throws {
    try withStore { environment in
      let tree = try environment.makeTree()
      try environment.write { try $0.put(tree, key: [1], value: [1]) }
      let snapshot = try environment.beginRead()
      defer { environment.endRead(snapshot) }
      try environment.write { try $0.put(tree, key: [1], value: [2]) }
      let young = try environment.makeTree("young")
      try environment.write { try $0.put(young, key: [1], value: [2]) }
      try #expect(snapshot.get(tree, [1]).map(Array.init) == [1])
      try #expect(snapshot.get(young, [1]) == nil)
      try #expect(snapshot.count(young) == 0)
      var cursor = try snapshot.cursor(young)
      try #expect(cursor.first() == nil)
      try #expect(environment.value(young, [1]) == [2])
    }
  }

  @Test func aRemovalReturnsWhetherTheKeyExisted() throws {
    try withStore { environment in
      let tree = try environment.makeTree()
      try environment.write { transaction in
        try transaction.put(tree, key: [1], value: [1])
        try #expect(transaction.delete(tree, key: [1]))
        try #expect(!transaction.delete(tree, key: [1]))
      }
    }
  }

  @Test func keysOutsideTheirBoundsAreRefusedAndTheTransactionContinues() throws {
    try withStore { environment in
      let tree = try environment.makeTree()
      try environment.write { transaction in
        for key in [[], [UInt8](repeating: 1, count: 512)] {
          let code = try code { try transaction.put(tree, key: key, value: [1]) }
          #expect(code == .keyInvalid)
        }
        try transaction.append(tree, key: [5], value: [])
        try #expect(code { try transaction.append(tree, key: [4], value: []) } == .keyInvalid)
        try transaction.put(tree, key: [UInt8](repeating: 1, count: 511), value: [1])
      }
      try environment.read { try #expect($0.count(tree) == 2) }
    }
  }

  @Test func onlyAKeyThatIsTheGreatestIsAppended() throws {
    try withStore { environment in
      let tree = try environment.makeTree()
      try environment.write { transaction in
        try transaction.pinCursor(in: tree)
        for (key, isGreatest) in [(5, true), (4, false), (5, false), (6, true)] as [(UInt8, Bool)] {
          try withUnsafeBytes(of: key) { key in
            try #expect(transaction.appendIfGreatest(tree, key: key, value: key) == isGreatest)
          }
          if !isGreatest { try transaction.put(tree, key: [key], value: [key, 1]) }
        }
      }
      try environment.read { transaction in
        let values = try [4, 5, 6].map { try transaction.get(tree, [$0]).map(Array.init) }
        #expect(values == [[4, 1], [5, 1], [6]])
      }
    }
  }

  @Test func aNestedTransactionThatThrowsLeavesItsParentUsable() throws {
    try withStore { environment in
      let tree = try environment.makeTree()
      try environment.write { parent in
        try parent.put(tree, key: [1], value: [1])
        try parent.nested { child in
          try child.put(tree, key: [2], value: [2])
          let made = try environment.createTree(named: "made", in: child)
          try child.put(made, key: [1], value: [1])
        }
        #expect(throws: CancellationError.self) {
          try parent.nested { child in
            try child.put(tree, key: [1], value: [9])
            try child.nested { try $0.put(tree, key: [3], value: [3]) }
            _ = try environment.createTree(named: "unmade", in: child)
            throw CancellationError()
          }
        }
        try parent.put(tree, key: [4], value: [4])
      }
      try environment.read { transaction in
        let values = try (1...4).map { try transaction.get(tree, [$0]).map(Array.init) }
        #expect(values == [[1], [2], nil, [4]])
        try #expect(environment.treeNames(in: transaction) == ["made", "tree"])
      }
    }
  }

  @Test func aDroppedTreeStaysInOlderSnapshotsAndItsNameGoes() throws {
    try withStore { environment in
      let tree = try environment.makeTree()
      try environment.write { try $0.put(tree, key: [1], value: [1]) }
      let older = try environment.beginRead()
      defer { environment.endRead(older) }
      try environment.write { try $0.drop(tree) }
      try environment.read { transaction in
        try #expect(environment.treeNames(in: transaction).isEmpty)
        try #expect(environment.tree(named: "tree", in: transaction) == nil)
        try #expect(transaction.get(tree, [1]) == nil)
      }
      try #expect(older.get(tree, [1]).map(Array.init) == [1])
      let refused = try code {
        try environment.write { try $0.put(tree, key: [1], value: [1]) }
      }
      #expect(refused == .programming)
      let again = try environment.makeTree()
      try environment.write { try $0.put(again, key: [2], value: [2]) }
      try #expect(environment.value(again, [2]) == [2])
      try #expect(environment.value(again, [1]) == nil)
      try #expect(older.get(tree, [1]).map(Array.init) == [1])
    }
  }

  @Test func aTreeDroppedAndCreatedInOneTransactionIsEmptyAndStays() throws {
    try withStore { environment in
      let tree = try environment.makeTree()
      try environment.write { try $0.put(tree, key: [1], value: [1]) }
      try environment.write { transaction in
        try transaction.drop(tree)
        let again = try environment.createTree(named: "tree", in: transaction)
        try transaction.put(again, key: [2], value: [2])
      }
      try #expect(environment.value(tree, [1]) == nil)
      try #expect(environment.value(tree, [2]) == [2])
    }
  }
}
