import Console
import DurableJobs
import Foundation
import StatusModel

/// The forms of the actions, or nothing for a page that is read-only.
struct ActionForms: Sendable {
  /// The token of each form; nil if actions are not allowed.
  let csrf: String?

  static let none = ActionForms(csrf: nil)

  func queue(_ name: String, isPaused: Bool) -> HTML {
    form(isPaused ? "resume" : "pause", [("queue", name)])
  }

  func job(_ job: JobStatus) -> HTML {
    job.state.isFinished
      ? (job.state == .succeeded ? .none : form("retry", [("job", "\(job.id)")]))
      : form("cancel", [("job", "\(job.id)")])
  }

  func feed(_ number: Int64) -> HTML { form("sync now", [("feed", "\(number)")]) }

  private func form(_ action: String, _ fields: [(String, String)]) -> HTML {
    guard let csrf else { return .none }
    let inputs = HTML(
      (fields + [("csrf", csrf)]).map {
        "<input type=\"hidden\" name=\"\($0.0)\" value=\"\($0.1)\"/>"
      })
    return """
      <form method="post" action="/actions">\(inputs)\
      <button name="action" value="\(action)">\(action)</button></form>
      """
  }
}

extension Page {
  /// The actions that were taken on the pages.
  static func log(_ status: StoreStatus) throws -> Page {
    var page = Page("Log", json: try JSONText.of(status.actions))
    let times = Times(now: status.at)
    var table = WebTable(
      "actions", "Actions",
      [.init("when"), .init("by"), .init("action"), .init("target"), .init("outcome")],
      empty: "None was taken. Pages have actions if `mooring serve` runs with --allow-actions.")
    for action in status.actions {
      table.append([
        times.cell(action.at), .init(action.author), .init(action.action), .init(action.target),
        .init(action.outcome),
      ])
    }
    page.blocks.append(.table(table))
    return page
  }
}
