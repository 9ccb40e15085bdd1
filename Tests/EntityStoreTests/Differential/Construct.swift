/// The building blocks of requests. The test counts how often each was compared.
enum Construct: String, CaseIterable, Sendable {
  // Comparisons
  case constantOnTheRight, constantOnTheLeft, twoAttributes, twoConstants
  case equal, notEqual, less, lessOrEqual, greater, greaterOrEqual, between, isIn
  case contains, beginsWith, endsWith, like, matches
  case isNull, isNotNull, nullConstant, nullInList, emptyList, expressionInList
  case unlikeNumbers, constantOfAnotherKind, caseName
  case optionC, optionD, optionCD, optionN, optionL
  // What is compared
  case int64, double, decimal, bool, string, date, uuid, data, url, enumeration, list
  // Lists
  case listContains, inAttribute, listEquality, anyElement, allElements, listCount
  // Paths
  case toOnePath, longToOnePath, keyPath, relationshipNull, relationshipIdentity, relationshipIn
  case twoRelationships, itself, selfIn
  case any, all, anyFlattened, anyToOneAfter, anyObject, anyNull, anyList
  case throughLinks, exists, nestedExists
  case collectionCount, collectionSum, collectionAverage, collectionMinimum, collectionMaximum
  case collectionFurther
  // Arithmetic
  case add, subtract, multiply, divide, power, negative, dateArithmetic
  // Logic
  case and, or, not, emptyAnd, emptyOr, always
  // Requests
  case sort, sortSeveral, sortDescending, sortThroughToOne, sortCaseInsensitive, sortLocalized
  case limit, offset
  case entities, count, identifiers, rows, distinct
  case defaultColumns, pathColumns, toOneColumns, relationshipColumns, expressionColumns
  case sum, average, minimum, maximum, countOfValues, countOfRows, countDistinct
  case aggregateOfExpression, severalAggregates, aggregateArithmetic, aggregateWithoutGroups
  case group, groupBySeveral, groupByToOne, groupByRelationship, groupCount, groupDistinct
  case defaultGroupColumns
  case havingColumn, havingKey, havingAggregate, sortByColumn, sortByKey

  /// Those that SQL has with the same meaning. SQLite has no decimals, lists, folding or collation
  /// of ours.
  static let inSQL: Set<Construct> = Set(allCases).subtracting([
    .like, .matches, .optionC, .optionD, .optionCD, .optionN, .optionL, .decimal, .list,
    .listContains, .inAttribute, .listEquality, .anyElement, .allElements, .listCount, .anyList,
    .collectionCount, .collectionSum, .collectionAverage, .collectionMinimum, .collectionMaximum,
    .collectionFurther, .power, .dateArithmetic, .sortCaseInsensitive, .sortLocalized,
    .defaultColumns, .groupDistinct,
  ])
}
