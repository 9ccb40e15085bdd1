public import Foundation

/// Time that goes faster than the clock, and is the same in all processes of a test: so that a wait
/// of some seconds, which a store has written, costs a test nothing.
public enum QuickTime {
  public static let factor = 50.0

  public static var now: Date {
    let start = 800_000_000.0
    let real = Date().timeIntervalSinceReferenceDate
    return Date(timeIntervalSinceReferenceDate: start + (real - start) * factor)
  }
}
