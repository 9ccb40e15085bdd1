import HTTPClient

extension SyncReport {
  /// The deviations of the documents that the publisher should correct, one line for each kind.
  /// Nothing of the feed was lost to them, or the report counts it elsewhere.
  public var warnings: [String] {
    var warnings: [String] = []
    if faults > 0 { warnings.append(faultsText) }
    if unreadableDates > 0 {
      let example = unreadableDate.map { ", for example \($0)" } ?? ""
      let dates = unreadableDates == 1 ? "1 date" : "\(unreadableDates) dates"
      warnings.append("\(dates) cannot be read\(example); report it to the publisher")
    }
    return warnings
  }

  /// The first remark about an item in one line, with the number of the others; nil if there is
  /// none.
  public var firstRemark: String? {
    guard let first = rejections.first else { return nil }
    return first.text + (remarks > 1 ? " (and \(remarks - 1) more)" : "")
  }

  /// The reason why nothing was deleted; nil if that was not so.
  public var deletionsText: String? {
    switch outcome {
    case .deletionsRefused:
      "\(refusedDeletions) records are no longer in the feed; that is more than half, so none was "
        + "deleted. To delete them, run `mooring sync --full --allow-deletions`"
    case .incomplete:
      "the listing was incomplete, so nothing was deleted; the next run reads all of it again"
    default: nil
    }
  }

  private var faultsText: String {
    var text = "the document is ill-formed in \(faults) place\(faults == 1 ? "" : "s")"
    if let firstFault {
      let isPlaced = firstFault.hasPrefix("line ")
      text += ", \(faults == 1 ? "" : "the first ")\(isPlaced ? "in " : "")\(firstFault)"
    }
    return text + "; \(salvagedText); report it to the publisher"
  }

  private var salvagedText: String {
    switch salvagedItems {
    case 0: return "no items were read"
    case 1: return "1 item was read"
    default:
      let isAll = outcome != .incomplete && rejected == 0
      return "\(isAll ? "all " : "")\(salvagedItems) items were read"
    }
  }

  /// Returns the report with the failure that has ended the run.
  public func failed(_ error: any Error) -> SyncReport {
    var report = self
    report.outcome = .failed
    report.error = "\(error)"
    switch error {
    case let error as SyncError:
      report.errorCode = error.code.rawValue
      report.errorStatus = error.refusal?.status
    case let error as HTTPError: report.errorCode = error.code.rawValue
    default: break
    }
    return report
  }
}

extension SyncReport.Rejection {
  /// The item and the reason.
  public var text: String { "\(id ?? "an item"): \(reason)" }
}

extension String {
  /// Returns the beginning of a text of a document on one line; nil if it is blank.
  func shortened() -> String? {
    let (read, kept) = (SyncLimits.textReadMax, SyncLimits.textLengthMax)
    let words = String(String.UnicodeScalarView(unicodeScalars.prefix(read)))
      .split(whereSeparator: \.isWhitespace)
    let text = words.joined(separator: " ").unicodeScalars
    if text.isEmpty { return nil }
    return text.count <= kept ? String(text) : String(text.prefix(kept - 1)) + "…"
  }
}
