import Foundation
import Testing
import TextFormats

@Suite struct CivilDateTests {
  @Test func everyDayOfFourCenturiesFollowsTheDayBefore() throws {
    var date = CivilDate(daysSince1970: -719_468)
    #expect(date == CivilDate(year: 0, month: 3, day: 1))
    for days in (-719_467)...(-719_468 + 146_097) {
      let next = CivilDate(daysSince1970: days)
      if date.day == date.daysInMonth {
        date.advanceToNextMonth()
        #expect(next == date)
      } else {
        #expect(next == CivilDate(year: date.year, month: date.month, day: date.day + 1))
      }
      #expect(next.daysSince1970 == days)
      date = next
    }
  }

  @Test(arguments: [(0, 1970, 1, 1, 4), (11_323, 2001, 1, 1, 1), (-1, 1969, 12, 31, 3)])
  func aDayHasItsDateAndWeekday(
    _ days: Int, _ year: Int, _ month: Int, _ day: Int, _ weekday: Int
  ) {
    let date = CivilDate(daysSince1970: days)
    #expect(date == CivilDate(year: year, month: month, day: day))
    #expect(date.weekday == weekday)
  }

  @Test(arguments: [
    (2001, 2, 29), (1900, 2, 29), (2000, 2, 30), (2000, 4, 31), (2000, 13, 1),
    (2000, 0, 1), (2000, 1, 0), (10_000, 1, 1), (-1, 1, 1),
  ])
  func aDayThatDoesNotExistIsNil(_ year: Int, _ month: Int, _ day: Int) {
    #expect(CivilDate(year: year, month: month, day: day) == nil)
    #expect(CivilDate(year: 2000, month: 2, day: 29) != nil)
  }

  @Test func divisionRoundsDown() {
    let (quotient, remainder) = (-1).dividedFlooring(by: 7)
    #expect(quotient == -1 && remainder == 6)
    #expect(13.dividedFlooring(by: 7).quotient == 1)
    #expect(7.padded(to: 3) == "007" && 1_234.padded(to: 3) == "1234")
  }
}
