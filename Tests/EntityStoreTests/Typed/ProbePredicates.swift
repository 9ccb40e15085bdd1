import EntityStore
import Foundation

/// Predicates for every node that has a meaning in a fetch. In groups, for the compiler's sake.
enum ProbePredicates {
  static var all: [Predicate<Probe>] {
    comparisons + optionals + conditions + texts + sequences + lists + numbers
  }

  @PredicateList static var comparisons: [Predicate<Probe>] {
    let (day, token, link) = (Probe.days[1], Probe.tokens[0], Probe.links[0])
    let (kind, state, grade) = (Probe.Kind.small, Probe.State.played, Stored(Probe.Grade.high))
    let (blob, price) = (Data([0]), Decimal(10))
    #Predicate<Probe> { $0.number == 1 }
    #Predicate<Probe> { $0.number != 1 }
    #Predicate<Probe> { 1 < $0.number }
    #Predicate<Probe> { $0.share <= 0.5 }
    #Predicate<Probe> { $0.cost >= price }
    #Predicate<Probe> { $0.body > "abc" }
    #Predicate<Probe> { $0.madeAt == day }
    #Predicate<Probe> { $0.token == token }
    #Predicate<Probe> { $0.blob == blob }
    #Predicate<Probe> { $0.link == link }
    #Predicate<Probe> { $0.price == price }
    #Predicate<Probe> { $0.state == state }
    #Predicate<Probe> { $0.kind == kind }
    #Predicate<Probe> { $0.kind != kind }
    #Predicate<Probe> { $0.grade == grade }
    #Predicate<Probe> { $0.grade?.rawValue == 7 }
    #Predicate<Probe> { $0.place.row == 1 }
  }

  @PredicateList static var optionals: [Predicate<Probe>] {
    let (day, someDay, noDay): (Date, Date?, Date?) = (Probe.days[1], Probe.days[1], nil)
    #Predicate<Probe> { $0.level == nil }
    #Predicate<Probe> { $0.level != nil }
    #Predicate<Probe> { $0.level == 2 }
    #Predicate<Probe> { $0.level != 2 }
    #Predicate<Probe> { !($0.level == 2) }
    #Predicate<Probe> { !($0.level != 2) }
    #Predicate<Probe> { $0.dueAt == someDay }
    #Predicate<Probe> { $0.dueAt != someDay }
    #Predicate<Probe> { $0.dueAt == noDay }
    #Predicate<Probe> { $0.dueAt != noDay }
    #Predicate<Probe> { $0.dueAt == day }
    #Predicate<Probe> { $0.price == $0.price }
    #Predicate<Probe> { $0.level == $0.place.row }
    #Predicate<Probe> { $0.level != $0.place.row }
    #Predicate<Probe> { $0.level == $0.level && $0.ratio != $0.ratio }
    #Predicate<Probe> { ($0.ratio ?? 0) > 0.25 }
    #Predicate<Probe> { !(($0.ratio ?? 0) > 0.25) }
    #Predicate<Probe> { ($0.ratio ?? 1) > 0.25 }
    #Predicate<Probe> { ($0.ratio ?? $0.share) == 0.5 }
    #Predicate<Probe> { ($0.title ?? "a") == "a" }
    #Predicate<Probe> { $0.level! > 1 }
    #Predicate<Probe> { $0.level != nil && $0.level! > 1 }
    #Predicate<Probe> { $0.level == nil || $0.level! > 1 }
    #Predicate<Probe> { $0.level.flatMap { $0 > 1 } == true }
    #Predicate<Probe> { $0.level.flatMap { $0 > 1 } != true }
    #Predicate<Probe> { $0.level.flatMap { $0 > 1 } == nil }
    #Predicate<Probe> { $0.level.flatMap { $0 > 1 } ?? true }
    #Predicate<Probe> { $0.dueAt.flatMap { $0 < day } != false }
    #Predicate<Probe> { ($0.dueAt ?? $0.madeAt) <= day }
  }

  @PredicateList static var conditions: [Predicate<Probe>] {
    let isWanted = true
    #Predicate<Probe> { _ in true }
    #Predicate<Probe> { _ in false }
    #Predicate<Probe> { $0.isDone }
    #Predicate<Probe> { !$0.isDone }
    #Predicate<Probe> { $0.isOpen == true }
    #Predicate<Probe> { $0.isOpen != true }
    #Predicate<Probe> { $0.isOpen ?? false }
    #Predicate<Probe> { !($0.isOpen ?? true) }
    #Predicate<Probe> { $0.isDone == isWanted }
    #Predicate<Probe> { probe in probe.isOpen.flatMap { $0 == probe.isDone } == true }
    #Predicate<Probe> { $0.isDone != ($0.number > 0) }
    #Predicate<Probe> { ($0.number > 0) == ($0.share > 0) }
    #Predicate<Probe> { $0.isDone && $0.number > 0 || $0.level == 1 && isWanted }
    #Predicate<Probe> { !($0.isDone && $0.level != 1) }
    #Predicate<Probe> { !(!$0.isDone || !($0.level == nil)) }
    #Predicate<Probe> { $0.isDone ? $0.number > 0 : $0.level == nil }
    #Predicate<Probe> { !($0.isDone ? $0.number > 0 : $0.level == nil) }
    #Predicate<Probe> { ($0.isDone ? $0.number : 5) > 1 }
    #Predicate<Probe> { ($0.isDone ? $0.level : 5) != 5 }
    #Predicate<Probe> { if let title = $0.title { title == "a" } else { $0.isDone } }
    #Predicate<Probe> {
      probe in
      if let level = probe.level, let ratio = probe.ratio {
        level > 0 && ratio > 0
      } else {
        false
      }
    }
    #Predicate<Probe> {
      if $0.number > 1 { true } else if $0.isDone { $0.level == 1 } else { false }
    }
  }

  @PredicateList static var texts: [Predicate<Probe>] {
    let (part, order) = ("ab", ComparisonResult.orderedSame)
    let whole = "abcab"
    #Predicate<Probe> { $0.body.contains("b") }
    #Predicate<Probe> { !$0.body.contains(part) }
    #Predicate<Probe> { $0.body.contains("") }
    #Predicate<Probe> { whole.contains($0.body) }
    #Predicate<Probe> { $0.body.starts(with: part) }
    #Predicate<Probe> { $0.title?.contains("a") == true }
    #Predicate<Probe> { $0.title?.contains("a") != true }
    #Predicate<Probe> { !($0.title?.contains("a") ?? false) }
    #Predicate<Probe> { $0.title?.starts(with: part) == false }
    #Predicate<Probe> { $0.body.isEmpty }
    #Predicate<Probe> { $0.title?.isEmpty == false }
    #Predicate<Probe> { ($0.title ?? "").isEmpty }
    #Predicate<Probe> { $0.body.localizedStandardContains("AB") }
    #Predicate<Probe> { $0.title?.localizedStandardContains("E") == true }
    #Predicate<Probe> { !($0.title?.localizedStandardContains("u") ?? true) }
    #Predicate<Probe> { $0.body.caseInsensitiveCompare("ABC") == order }
    #Predicate<Probe> { $0.body.caseInsensitiveCompare("ABC") != order }
    #Predicate<Probe> { $0.title?.caseInsensitiveCompare("a") == order }
  }

  @PredicateList static var sequences: [Predicate<Probe>] {
    let (numbers, none): ([Int], [Int]) = ([1, 5], [])
    let (levels, some): (Set<Int64?>, [Int64]) = ([1, nil], [1, 2])
    let (range, span, from) = (1..<5, Probe.days[1]...Probe.days[2], Probe.days[2]...)
    let (states, parts) = ([Probe.State.played], ["ab", "x"])
    #Predicate<Probe> { [1, 2].contains($0.number) }
    #Predicate<Probe> { numbers.contains($0.number) }
    #Predicate<Probe> { !numbers.contains($0.number) }
    #Predicate<Probe> { none.contains($0.number) }
    #Predicate<Probe> { levels.contains($0.level) }
    #Predicate<Probe> { !levels.contains($0.level) }
    #Predicate<Probe> { some.contains($0.level ?? 7) }
    #Predicate<Probe> { $0.level.flatMap { some.contains($0) } != true }
    #Predicate<Probe> { states.contains($0.state) }
    #Predicate<Probe> { (1...2).contains($0.number) }
    #Predicate<Probe> { !(1..<5).contains($0.number) }
    #Predicate<Probe> { range.contains($0.number) }
    #Predicate<Probe> { span.contains($0.madeAt) }
    #Predicate<Probe> { !span.contains($0.madeAt) }
    #Predicate<Probe> { from.contains($0.madeAt) }
    #Predicate<Probe> { (-2...$0.number).contains(0) }
    #Predicate<Probe> { probe in parts.contains { probe.body.contains($0) } }
    #Predicate<Probe> { probe in parts.allSatisfy { !probe.body.contains($0) } }
    #Predicate<Probe> { $0.number == numbers.count && numbers.contains(1) }
  }

  @PredicateList static var lists: [Predicate<Probe>] {
    let list = ["a", "b"]
    #Predicate<Probe> { $0.words.contains("a") }
    #Predicate<Probe> { !$0.words.contains("a") }
    #Predicate<Probe> { $0.words.contains($0.body) }
    #Predicate<Probe> { $0.words == list }
    #Predicate<Probe> { $0.tags == list }
    #Predicate<Probe> { $0.tags != list }
    #Predicate<Probe> { $0.words.isEmpty }
    #Predicate<Probe> { $0.words.count > 1 }
    #Predicate<Probe> { $0.tags?.count == 2 }
    #Predicate<Probe> { $0.tags?.isEmpty != false }
    #Predicate<Probe> { $0.tags?.contains("x") == true }
    #Predicate<Probe> { $0.tags?.contains("x") != true }
    #Predicate<Probe> { ($0.tags ?? []).contains("x") }
    #Predicate<Probe> { ($0.tags ?? ["x"]).contains("x") }
    #Predicate<Probe> { $0.words.contains { $0 == "x" } }
    #Predicate<Probe> { $0.words.contains { $0 > "a" } }
    #Predicate<Probe> { $0.words.contains { "a" < $0 } }
    #Predicate<Probe> { $0.words.contains { !$0.contains("a") } }
    #Predicate<Probe> { $0.words.contains { $0 == "b" || $0.starts(with: "ab") } }
    #Predicate<Probe> { $0.words.allSatisfy { $0 == "x" } }
    #Predicate<Probe> { !$0.words.allSatisfy { $0.contains("a") } }
    #Predicate<Probe> { $0.tags?.allSatisfy { $0 != "a" } == true }
  }

  @PredicateList static var numbers: [Predicate<Probe>] {
    let (base, step) = (3, 2)
    #Predicate<Probe> { $0.number + 1 > 2 }
    #Predicate<Probe> { $0.number > base - step }
    #Predicate<Probe> { $0.number * 2 == base + 1 }
    #Predicate<Probe> { -$0.number < 0 }
    #Predicate<Probe> { $0.number / 2 == 1 }
    #Predicate<Probe> { $0.share / 2 == 0.25 }
    #Predicate<Probe> { $0.share * 2 - 1 == $0.share }
    #Predicate<Probe> { ($0.level ?? 0) + 1 > 2 }
    #Predicate<Probe> { ($0.level ?? 0) - 1 != 0 }
    #Predicate<Probe> { $0.cost - 1 > 8 }
  }
}

/// A list whose members are each checked by the compiler alone.
@resultBuilder enum PredicateList {
  static func buildBlock(_ predicates: Predicate<Probe>...) -> [Predicate<Probe>] { predicates }
}
