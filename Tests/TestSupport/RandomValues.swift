public import EntityModel
public import Foundation

extension SeededRandom {
  public mutating func number(_ range: ClosedRange<Int>) -> Int {
    Int.random(in: range, using: &self)
  }

  /// True in one of `number` cases.
  public mutating func oneIn(_ number: Int) -> Bool { self.number(1...number) == 1 }

  public mutating func pick<C: Collection>(_ choices: C) -> C.Element where C.Index == Int {
    choices[choices.startIndex + number(0...choices.count - 1)]
  }

  /// A value of a kind, from few enough that equal ones and neighbors are common.
  public mutating func value(_ kind: ValueKind) -> Value {
    switch kind {
    case .int64: .int64(int64())
    case .double: .double(double())
    case .decimal: .decimal(decimal())
    case .bool: .bool(oneIn(2))
    case .string: .string(text())
    case .date: .date(Date(timeIntervalSinceReferenceDate: double()))
    case .uuid: .uuid(uuid())
    case .data: .data(Data(text().utf8) + Data(bytes(count: number(0...2))))
    case .url: .url(url())
    case .strings: .strings((0..<number(0...4)).map { _ in text() })
    }
  }

  public mutating func int64() -> Int64 {
    switch number(0...3) {
    case 0: pick([0, 1, -1, 255, 256, -256, .min, .max, .min + 1, .max - 1])
    case 1: Int64(bitPattern: next())
    default: Int64(number(-4...4))
    }
  }

  /// Every finite number and the infinities; never NaN.
  public mutating func double() -> Double {
    switch number(0...3) {
    case 0:
      return pick([
        0.0, -0.0, .infinity, -.infinity, .leastNonzeroMagnitude, -.leastNonzeroMagnitude,
        .greatestFiniteMagnitude, -.greatestFiniteMagnitude, .pi, 1e-300,
      ])
    case 1:
      let number = Double(bitPattern: next())
      return number.isNaN ? 1.5 : number
    default: return Double(number(-8...8)) / 2
    }
  }

  /// Returns a decimal of up to 38 digits, with any exponent that Foundation supports.
  public mutating func decimal() -> Decimal {
    switch number(0...3) {
    case 0:
      var digits = ""
      for _ in 0..<number(1...38) { digits += String(number(0...9)) }
      let text = (oneIn(2) ? "-" : "") + digits + "e\(number(-127...80))"
      return Decimal(string: text).flatMap { $0.isNaN ? nil : $0 } ?? Decimal(7)
    case 1:
      return pick([
        Decimal(0), Decimal(string: "-0.5")!, Decimal(string: "0.5")!, Decimal(string: "0.05")!,
        Decimal(string: "99999999999999999999999999999999999999")!,
        Decimal(string: "-99999999999999999999999999999999999999")!,
        Decimal(string: "1e100")!, Decimal(string: "1e-100")!, Decimal(string: "1e-127")!,
      ])
    default: return Decimal(number(-300...300)) / Decimal(pick([1, 10, 100]))
    }
  }

  /// Short texts, texts with zero bytes, texts that are equal but for their normalization, texts
  /// beyond the basic plane, and texts around LMDB's key size that share their beginning.
  public mutating func text() -> String {
    switch number(0...9) {
    case 0: return ""
    case 1: return pick(["\0", "a\0", "a\0b", "a\0\u{1}", "\0\0", "a\u{1}", "\u{7f}"])
    case 2: return pick(["caf\u{e9}", "cafe\u{301}", "\u{212b}", "\u{e5}", "a\u{30a}"])
    case 3 where oneIn(2):
      return pick(["Ab", "aB", "A", "Stra\u{df}e", "STRASSE", "\u{130}", "a 9", "a 10", "\u{e4}b"])
    case 3: return pick(["😀", "😀😀", "\u{ffff}", "\u{10ffff}", "日本語", "z"])
    case 4, 5:
      return longText()
    default: return String((0..<number(0...3)).map { _ in pick(["a", "b", "c"]) })
    }
  }

  /// Longer than a key can be or nearly so; most share the first few hundred bytes.
  public mutating func longText() -> String {
    let length = pick([210, 300, 420, 460, 478, 483, 484, 485, 499, 500, 501, 502, 511, 512, 900])
    let letter = oneIn(5) ? pick(["\0", "X"]) : "x"
    var text = String(repeating: letter, count: length + number(-1...1))
    if oneIn(2) { text += pick(["a", "b", "\0", "\u{e9}", "e\u{301}", "ab"]) }
    return text
  }

  public mutating func uuid() -> UUID {
    let bytes = oneIn(2) ? bytes(count: 16) : [UInt8](repeating: UInt8(number(0...3)), count: 16)
    return bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
  }

  public mutating func url() -> URL {
    var address = "https://\(pick(["a", "b", "xn--bcher-kva"])).example/\(number(0...5))"
    if oneIn(5) { address += "?q=" + String(repeating: "y", count: number(440...520)) }
    return URL(string: address)!
  }

  /// Values for every attribute of an entity, by position: the rules are kept.
  public mutating func row(of attributes: [AttributeDescription]) -> [Value] {
    attributes.map { attribute in
      if attribute.isOptional, oneIn(4) { return .null }
      if case .enumeration(let enumeration) = attribute.type, !oneIn(5) {
        return pick(enumeration.cases).rawValue
      }
      return value(attribute.type.kind)
    }
  }
}
