import Synchronization

/// The settings of a running worker, which a reload replaces.
///
/// Any thread may use it.
public final class LiveSettings: Sendable {
  /// What a reload has done.
  public enum Reload: Sendable, Equatable {
    /// The names of what counts from now on, and of what counts from the next start on.
    case changed(live: [String], afterRestart: [String])
    case unchanged
    /// The old settings stay; the text says what is wrong, in one line.
    case refused(String)
  }

  private let load: @Sendable () throws -> EffectiveSettings
  private let effective: Mutex<EffectiveSettings>

  /// Reads the settings for the first time.
  ///
  /// - Parameter load: Reads all sources anew, as `WorkerSettings.load` does.
  /// - Throws: What it throws.
  public init(_ load: @escaping @Sendable () throws -> EffectiveSettings) throws {
    self.load = load
    effective = Mutex(try load())
  }

  /// The settings that count now.
  public var current: WorkerSettings { effective.withLock { $0.settings } }

  /// What ignored variables the last reading met.
  public var warnings: [String] { effective.withLock { $0.warnings } }

  /// Reads all sources again. A setting that needs a restart keeps its value until then.
  public func reload() -> Reload {
    do {
      let new = try load()
      return effective.withLock { $0.take(new) }
    } catch {
      return .refused("\(error)")
    }
  }
}

extension EffectiveSettings {
  fileprivate mutating func take(_ new: EffectiveSettings) -> LiveSettings.Reload {
    let changed = zip(items, new.items).filter { $0.text != $1.text }.map(\.0)
    let (live, afterRestart) = (
      changed.filter { $0.setting.reload == .live },
      changed.filter { $0.setting.reload == .restart }
    )
    var settings = new.settings
    for kept in afterRestart { _ = kept.setting.assign(kept.text, to: &settings) }
    let items = new.items.map { item in
      afterRestart.first { $0.setting.name == item.setting.name } ?? item
    }
    self = EffectiveSettings(
      settings: settings, items: items, file: new.file, warnings: new.warnings)
    guard !changed.isEmpty else { return .unchanged }
    return .changed(live: live.map(\.setting.name), afterRestart: afterRestart.map(\.setting.name))
  }
}
