import SystemSupport

/// The settings of a running worker, which a reload replaces. Any thread may use it.
public final class LiveSettings: Sendable {
  /// The result of a reload.
  public enum Reload: Sendable, Equatable {
    /// The names of the changed settings: those in effect now, and those in effect after a restart.
    case changed(live: [String], afterRestart: [String])
    case unchanged
    /// The old settings stay in effect. The text is the problem, in one line.
    case refused(String)
  }

  private let load: @Sendable () throws -> EffectiveSettings
  private let effective: Locked<EffectiveSettings>

  /// Reads the settings for the first time.
  ///
  /// - Parameter load: Reads all sources, like `WorkerSettings.load`.
  /// - Throws: The errors of `load`.
  public init(_ load: @escaping @Sendable () throws -> EffectiveSettings) throws {
    self.load = load
    effective = Locked(try load())
  }

  /// The settings in effect.
  public var current: WorkerSettings { effective.withLock { $0.settings } }

  /// The warnings about ignored variables of the last `load`.
  public var warnings: [String] { effective.withLock { $0.warnings } }

  /// Reads all sources again. A setting that needs a restart keeps its value.
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
    for item in afterRestart { _ = item.setting.assign(item.text, to: &settings) }
    let items = new.items.map { item in
      afterRestart.first { $0.setting.name == item.setting.name } ?? item
    }
    self = EffectiveSettings(
      settings: settings, items: items, file: new.file, warnings: new.warnings)
    guard !changed.isEmpty else { return .unchanged }
    return .changed(live: live.map(\.setting.name), afterRestart: afterRestart.map(\.setting.name))
  }
}
