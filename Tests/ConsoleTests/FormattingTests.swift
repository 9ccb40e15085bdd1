import ArgumentParser
import Console
import Testing

@Suite struct FormattingTests {
  @Test(arguments: [
    (0, "0"), (7, "7"), (999, "999"), (1_000, "1,000"), (5_000, "5,000"), (-12_345, "-12,345"),
    (1_234_567, "1,234,567"), (Int64.max, "9,223,372,036,854,775,807"),
    (Int64.min, "-9,223,372,036,854,775,808"),
  ])
  func countsAreGrouped(_ value: Int64, _ text: String) {
    #expect(Formatting.count(value) == text)
  }

  @Test(arguments: [
    (0, "0 B"), (999, "999 B"), (1_000, "1.0 kB"), (1_249_000, "1.2 MB"), (9_960, "10 kB"),
    (340_200_000, "340 MB"), (999_499, "999 kB"), (999_500, "1.0 MB"), (-1_500, "-1.5 kB"),
    (5_000_000_000, "5.0 GB"), (Int64.max, "9.2 EB"), (Int64.min, "-9.2 EB"),
  ])
  func sizesAreDecimal(_ value: Int64, _ text: String) {
    #expect(Formatting.bytes(value) == text)
  }

  @Test(
    arguments: [
      (.zero, "0.0 µs"), (.nanoseconds(350_400), "350 µs"), (.microseconds(999), "999 µs"),
      (.nanoseconds(999_600), "1.0 ms"), (.milliseconds(12), "12 ms"),
      (.microseconds(999_600), "1.0 s"),
      (.milliseconds(3_400), "3.4 s"), (.milliseconds(59_400), "59 s"),
      (.milliseconds(59_600), "1 min 0 s"), (.seconds(125), "2 min 5 s"),
      (.seconds(3_600), "1 h 0 min"),
      (.seconds(11_520), "3 h 12 min"), (.seconds(86_390), "1 d 0 h"),
      (.seconds(356_400), "4 d 3 h"),
      (.milliseconds(-3_400), "-3.4 s"),
    ] as [(Duration, String)])
  func durationsTakeTheUnitThatFits(_ value: Duration, _ text: String) {
    #expect(Formatting.duration(value) == text)
  }

  @Test func exitStatusesAgreeWithTheManual() {
    #expect(ExitStatus.allCases.map(\.rawValue) == [0, 1, 64, 65, 69, 73, 74, 75, 77, 78, 79, 130])
    for status in ExitStatus.allCases {
      #expect(status.exitCode.rawValue == status.rawValue)
    }
  }
}
