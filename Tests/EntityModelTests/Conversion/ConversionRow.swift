import EntityModel
import Testing

/// A row of a table: rules, a value, and what becomes of it.
struct ConversionRow: CustomTestStringConvertible, Sendable {
  var conversion: Conversion
  var value: Value
  var type: AttributeType
  var result: Result<Value, Failure>

  struct Failure: Error { let code: ConversionFailure.Code }

  init(_ value: Value, _ type: AttributeType, _ result: Value, _ rules: Conversion = .none) {
    (self.value, self.type, self.result, conversion) = (value, type, .success(result), rules)
  }

  init(
    _ value: Value, _ type: AttributeType, fails code: ConversionFailure.Code,
    _ rules: Conversion = .none
  ) {
    (self.value, self.type, conversion) = (value, type, rules)
    result = .failure(Failure(code: code))
  }

  var testDescription: String { "\(value) to \(type.name), \(conversion.text)" }

  func check() {
    do throws(ConversionFailure) {
      let found = try conversion.value(from: value, to: type)
      guard case .success(let expected) = result else {
        Issue.record("became \(found)")
        return
      }
      #expect(found == expected)
    } catch {
      guard case .failure(let expected) = result else {
        Issue.record("refused: \(error)")
        return
      }
      #expect(error.code == expected.code, "\(error)")
    }
  }
}
