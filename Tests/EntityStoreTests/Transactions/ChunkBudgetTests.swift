import EntityStore
import Testing

@Suite struct ChunkBudgetTests {
  @Test func aBudgetWithoutLimitsAlwaysHasRoom() {
    var budget = ChunkBudget()
    budget.add(rows: 1_000_000, bytes: 1_000_000_000)
    #expect(budget.hasRoom)
    #expect(budget.rows == 1_000_000)
  }

  @Test func theChunkEndsWithTheRowThatReachesTheLimit() {
    var budget = ChunkBudget(rowsMax: 3)
    budget.add(rows: 2)
    #expect(budget.hasRoom)
    budget.add(rows: 1)
    #expect(!budget.hasRoom)
  }

  @Test func theChunkEndsWithTheByteThatReachesTheLimit() {
    var budget = ChunkBudget(rowsMax: 100, bytesMax: 10)
    budget.add(rows: 1, bytes: 9)
    #expect(budget.hasRoom)
    budget.add(rows: 1, bytes: 1)
    #expect(!budget.hasRoom)
  }

  @Test func theChunkEndsWhenItsTimeIsOver() {
    #expect(!ChunkBudget(duration: .zero).hasRoom)
    #expect(ChunkBudget(duration: .seconds(3_600)).hasRoom)
  }

  @Test func anEndedChunkHasNoRoom() {
    var budget = ChunkBudget(rowsMax: 100)
    budget.add(rows: 1)
    budget.end()
    #expect(!budget.hasRoom)
    #expect(budget.rows == 1)
  }
}
