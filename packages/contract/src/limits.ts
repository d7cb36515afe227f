const kibibyte = 1024;
const mebibyte = 1024 * kibibyte;
const seconds = 1000;
const minutes = 60 * seconds;
const hours = 60 * minutes;
const days = 24 * hours;

/**
 * Bounds that a client of the service can meet, by name (spec §8 and the decisions named beside them). A name that
 * starts with `default` is the value of a setting that the deployment does not set; the others are fixed.
 */
export const limits = {
  // Requests (D-71, D-72)
  pageMin: 1,
  pageMax: 100,
  pageDefault: 50,
  pageMaxBytes: 8 * mebibyte,
  cursorMaxCharacters: 1024,
  bodyMaxBytes: mebibyte,
  /** D-193: chat clients send whole histories. */
  faceBodyMaxBytes: 4 * mebibyte,
  /** D-461: a page sends less than its backend, because anyone who opens it has its token. */
  sessionBodyMaxBytes: 2 * mebibyte,
  /** A message of the AI SDK has at least five fields, so `bodyMaxKeys` is reached first. */
  uiMessagesMax: 2000,
  /** D-435: messages of one request, and answers in it. */
  agUiMessagesMax: 2000,
  agUiResumeMax: 100,
  /** D-462: above the rate, a body whose key is not in the header. */
  replayBodyMaxBytes: 64 * kibibyte,
  formMaxBytes: 16 * kibibyte,
  bodyMaxMs: 1 * minutes,
  bodySilenceMaxMs: 30 * seconds,
  uploadMinBytesPerMinute: 512 * kibibyte,
  bodyMaxDepth: 64,
  bodyMaxKeys: 10_000,
  /** D-461: objects, arrays, their elements and the names of fields, together. */
  bodyMaxValues: 50_000,
  headersMaxBytes: 16 * kibibyte,
  queryMaxParameters: 100,

  // Text (D-01, D-40, D-57; spec §8)
  idMaxCharacters: 64,
  idempotencyKeyMinCharacters: 1,
  idempotencyKeyMaxCharacters: 256,
  idempotencyHeaderMinCharacters: 8,
  nameMaxCharacters: 200,
  descriptionMaxCharacters: 1000,
  messageMaxCharacters: 2000,
  fileNameMaxCharacters: 255,
  contentTypeMaxCharacters: 255,
  tenantModeMaxCharacters: 64,

  // Sessions (D-17, D-23)
  defaultSessionIdleTtlMs: 30 * days,
  defaultSessionQueueRuns: 20,

  // Runs (D-24, D-26)
  runFilesMax: 100,
  /** Of the JSON text of a run's output (D-565). */
  runOutputMaxBytes: 256 * 1024,
  inputIssuesMax: 20,
  defaultCancelGraceMs: 10 * seconds,

  // Interactions (D-38)
  answerMaxCharacters: 100_000,
  answerMaxChoices: 100,

  // Waits and messages of runs (D-850)
  waitMaxSeconds: (366 * days) / seconds,
  signalNameMaxCharacters: 64,
  signalsKeptPerRun: 100,
  /** Of all messages that a run has got, as JSON text: each leg of the run parses them (D-1011). */
  signalsMaxCharacters: 4 * mebibyte,
  signalBodyMaxBytes: 256 * kibibyte,
  /** D-910: callbacks of one network, which may be a provider that many runs wait for. */
  callbackRatePerMinute: 3000,
  callbackRateBurst: 600,

  // Rules of tool calls (D-501, D-502, D-512)
  rulesMax: 100,
  rulesMaxBytes: 64 * kibibyte,
  ruleGlobsMax: 20,
  ruleGlobMaxCharacters: 200,
  ruleTenantsMax: 100,
  ruleConditionsMax: 8,
  rulePathMaxCharacters: 200,
  rulePathMaxLevels: 16,
  ruleValuesMax: 100,
  ruleValueMaxCharacters: 1000,
  /** A longer text is not compared with a glob. */
  ruleLikeMaxCharacters: 16 * 1024,
  ruleReasonMaxCharacters: 500,
  ruleApproversMax: 5,
  ruleTrialCallsMax: 5000,
  ruleTrialChangesMax: 100,
  /** Allows that a session remembers at a time (D-822). */
  memoriesMax: 100,
  /** The longest input, as JSON, of an allow that is remembered for exactly this input. */
  memoryInputMaxCharacters: 16 * 1024,
  ruleWaitHoursMax: 8760,

  // Schedules (D-140 to D-142)
  schedulesPerTenant: 100,
  scheduleInputMaxCharacters: 64 * 1024,
  cronMaxCharacters: 200,
  timeZoneMaxCharacters: 64,
  missedWithinDefaultSeconds: 3600,
  missedWithinMaxSeconds: (7 * days) / seconds,
  scheduleFireDays: 30,
  previewDefault: 10,
  previewMax: 100,

  // Webhooks (D-120 to D-124)
  webhooksPerTenant: 20,
  webhookUrlMaxCharacters: 2000,
  webhookAgentsMax: 100,
  deliveryDays: 30,
  replayMax: 1000,

  // Connections (D-590 to D-593)
  connectionsPerTenant: 10_000,
  connectionSecretMinCharacters: 8,
  connectionSecretMaxCharacters: 8192,
  connectionUrlMaxCharacters: 2000,
  connectionClientMaxCharacters: 500,
  connectionScopeMaxCharacters: 2000,
  connectTtlMs: 10 * 60_000,
  connectReturnsPerMinute: 60,

  // Event stream (D-02, D-30, D-33, D-35)
  eventIdDigits: 12,
  streamRetryMs: 2 * seconds,
  streamPingMs: 15 * seconds,
  streamStallMs: 30 * seconds,
  defaultStreamAgeMs: 60 * minutes,

  // Feedback (D-575)
  feedbackPerRun: 200,
  /** Writers at the same instant may exceed `feedbackPerRun` by their number; this many are shown. */
  feedbackShownMax: 200,
  feedbackScoreMax: 1e9,
  feedbackValueMaxCharacters: 256,
  feedbackCommentMaxCharacters: 4000,

  // Labels and previews (D-252)
  labelsMax: 16,
  labelValueMaxCharacters: 512,
  /** A key of 64 characters, a colon and a value. */
  labelTextMaxCharacters: 577,
  previewCharacters: 200,
  searchMaxCharacters: 100,
  overviewCountMax: 10_000,

  // Feed (D-112)
  noticeIdDigits: 16,

  // Files (D-41)
  defaultFileMaxBytes: 100 * mebibyte,

  // Tokens and secrets (D-50, D-65)
  tokenLifetimeSeconds: 600,
  /** D-460: token requests of one network, which many backends may share. */
  tokenRatePerMinute: 3000,
  tokenRateBurst: 600,
  clientSecretCharacters: 43,
  clientSecretChecksumCharacters: 6,
  secretHintCharacters: 4,

  // Session tokens (D-196, D-200)
  sessionTokenMinSeconds: 60,
  sessionTokenMaxSeconds: 3600,
  sessionTokenDefaultSeconds: 900,
  sessionTokenScopesMax: 20,
  endUserMaxCharacters: 200,
  sessionRatePerMinute: 120,
  sessionRateBurst: 60,
  streamsPerSession: 16,

  // Organization management (spec §8, D-61 to D-63)
  clientsPerOrganization: 20,
  tenantsPerClient: 100,
  liveCredentialsPerClient: 2,
  credentialDaysMin: 1,
  credentialDaysMax: 365,
  credentialDaysDefault: 90,

  // Invitations (D-331)
  invitationsPerOrganization: 50,
  invitationDays: 7,
  /** D-460: for operations of a person who has the link. A valid body has less than 2 KiB. */
  invitationBodyMaxBytes: 4 * kibibyte,
  invitationRatePerMinute: 60,
  emailMaxCharacters: 254,
  personNameMaxCharacters: 100,
  passwordMinCharacters: 12,
  passwordMaxCharacters: 256,

  // Usage and budgets (D-130 to D-134)
  budgetsPerOrganization: 100,
  ceilingTokensMax: 1e12,
  ceilingCostMax: 1e15,
  usageDaysMax: 92,
  usageHoursDaysMax: 31,
  usageDefaultDays: 30,

  // Rates (D-68); zero per minute means no limit
  defaultManagementRatePerMinute: 60,
  defaultApiRatePerMinute: 6000,
} as const;
