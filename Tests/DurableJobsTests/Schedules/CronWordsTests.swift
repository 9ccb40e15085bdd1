import DurableJobs
import Testing

@Suite struct CronWordsTests {
  @Test(arguments: [
    ("*/15 * * * *", "every 15 minutes"),
    ("* * * * *", "every minute"),
    ("0 * * * *", "every hour"),
    ("@hourly", "every hour"),
    ("0 */6 * * *", "at 00:00, 06:00, 12:00 and 18:00"),
    ("0 */2 * * *", "every 2 hours"),
    ("30 6 * * *", "at 06:30"),
    ("30 6 * * mon-fri", "at 06:30 on Monday to Friday"),
    ("0 0 * * 0", "at 00:00 on Sunday"),
    ("0 4 1 * *", "at 04:00 on day 1 of the month"),
    ("0 4 1,15 1-3 *", "at 04:00 on day 1 and 15 of the month in January to March"),
    ("0 0 13 * fri", "at 00:00 on day 13 of the month and on Friday"),
    ("5,10 8-17 * * *", "at the minutes 05 and 10 in the hours 08 to 17"),
    ("*/10 8-18 * * sat,sun", "every 10 minutes in the hours 08 to 18 on Saturday and Sunday"),
    ("0 0 1 1 *", "at 00:00 on day 1 of the month in January"),
    ("@every 90s", "every 90 seconds"), ("@every 1h", "every hour"),
    ("@every 15m", "every 15 minutes"),
  ]) func aScheduleIsSaidInWords(_ expression: String, _ words: String) throws {
    #expect(try CronExpression(expression).words == words)
  }
}
