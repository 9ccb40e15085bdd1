/// The names of the entities beside `_Job`; what they hold says `System/0001_jobs.yaml`.
enum AttemptRecord { static let entity = "_JobAttempt" }
enum OutputRecord { static let entity = "_JobOutput" }
enum RunnerRecord { static let entity = "_JobRunner" }
enum QueueRecord { static let entity = "_JobQueue" }
enum BatchRecord { static let entity = "_JobBatch" }
enum ScheduleRecord { static let entity = "_JobSchedule" }
enum MinuteRecord { static let entity = "_JobMinute" }
