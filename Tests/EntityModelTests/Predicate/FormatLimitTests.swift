import EntityModel
import Foundation
import TestSupport
import Testing

/// No text is a matter of the stack: everything here runs on the smallest one that threads have.
@Suite struct FormatLimitTests {
  private func message(_ format: String) -> String {
    do {
      _ = try FetchPredicate(format: format)
      return "none"
    } catch {
      return error.message
    }
  }

  @Test(arguments: [
    "(", "{", "NOT ", "!", "-", "sum(", "AND(", "ANY a SATISFIES (", "((a) == 1 AND ", "{(",
  ])
  func nestingBeyondTheLimitIsAnError(opening: String) {
    for count in [10_000, 1 << 20 / opening.utf8.count] {
      onSmallStack {
        let text = String(repeating: opening, count: count)
        #expect(message(text) != "none")
        #expect(message(text + "a == 1") != "none")
      }
    }
  }

  @Test func tenThousandParenthesesAreRefusedWithoutACrash() {
    onSmallStack {
      let text =
        String(repeating: "(", count: 10_000) + "a == 1"
        + String(repeating: ")", count: 10_000)
      #expect(message(text).contains("nested deeper than 200"))
    }
  }

  @Test(arguments: [
    ("NOT (", "a == 1", ")"), ("ANY a SATISFIES (", "b == 1", ")"),
    ("AND(", "a == 1", ")"), ("a == 1 AND (b == 1 OR ", "c == 1", ")"),
    ("", "a == -(1)", ""),
  ])
  func theDeepestTreesThatParseRoundTripAndAreFreed(open: String, middle: String, close: String) {
    onSmallStack {
      let depths = 1...201
      let deepest = depths.last { depth in
        let text =
          String(repeating: open, count: depth) + middle
          + String(repeating: close, count: depth)
        guard let tree = try? FetchPredicate(format: text) else { return false }
        return (try? FetchPredicate(format: tree.description)) == tree
          && (try? JSONDecoder().decode([FetchPredicate].self, from: JSONEncoder().encode([tree])))
            == [tree]
          && tree.variables.isEmpty && (try? tree.substituting([:])) == tree
          && Set([tree]).contains(tree)
      }
      #expect((deepest ?? 0) >= 99)
    }
  }

  @Test(arguments: [
    ("{", "1", "}"), ("-(", "a", ")"), ("sum(", "a", ")"), ("1 - (", "a", ")"),
    ("", "a", " + 1"),
  ])
  func theDeepestExpressionsToo(open: String, middle: String, close: String) {
    onSmallStack {
      let depth = 199
      let text =
        String(repeating: open, count: depth) + middle
        + String(repeating: close, count: depth)
      guard let tree = try? FetchExpression(format: text) else {
        Issue.record("\(text) is refused")
        return
      }
      #expect((try? FetchExpression(format: tree.description)) == tree)
      #expect(tree.variables.isEmpty)
      #expect(Set([tree]).contains(tree))
      let deeper = String(repeating: open, count: 2) + text + String(repeating: close, count: 2)
      #expect((try? FetchExpression(format: deeper)) == nil)
    }
  }

  @Test func aLongChainIsALoop() throws {
    let format = Array(repeating: "a == 1", count: 30_000).joined(separator: " OR ")
    onSmallStack {
      guard case .or(let parts)? = try? FetchPredicate(format: format) else {
        Issue.record("the chain is refused")
        return
      }
      #expect(parts.count == 30_000)
      #expect(FetchPredicate.or(parts).description == format)
    }
  }

  @Test func aPredicateOfAMegabyteIsReadOrRefusedByItsNumberOfParts() {
    let part = "title CONTAINS[cd] \"something that takes a little room\""
    let fits = Array(repeating: part, count: 17_000).joined(separator: " OR ")
    #expect(fits.utf8.count < 1 << 20 && message(fits) == "none")
    #expect(message(fits + " OR " + fits).contains("at most 1048576 are read"))
    let list = "a IN {" + Array(repeating: "1", count: 200_000).joined(separator: ",") + "}"
    #expect(message(list).contains("more than 100000 parts"))
    #expect(message("a == '" + String(repeating: "x", count: 1_000_000) + "'") == "none")
  }

  @Test func argumentsDoNotCountAsParts() throws {
    let numbers = Array(0..<200_000)
    let tree = try FetchPredicate(format: "a IN %@", numbers)
    #expect(tree == .isIn("a", numbers.map { .int64(Int64($0)) }))
    // What could not be read back is not written either.
    #expect(throws: EncodingError.self) { try JSONEncoder().encode([tree]) }
  }

  private func onSmallStack(_ body: @escaping @Sendable () -> Void) {
    let done = DispatchSemaphore(value: 0)
    let thread = Thread {
      body()
      done.signal()
    }
    // A sanitizer makes frames several times as large.
    thread.stackSize = isSanitized ? 8 << 20 : 512 << 10
    thread.start()
    done.wait()
  }
}
