public import Foundation

/// One slot of figures.
public struct FigureSlot: Codable, Equatable, Sendable {
  public let resolution: FigureResolution
  /// The beginning of the slot.
  public let start: Date
  public let figures: SlotFigures
}
