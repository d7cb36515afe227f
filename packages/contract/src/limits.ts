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
  cursorMaxCharacters: 1024,
  bodyMaxBytes: mebibyte,
  formMaxBytes: 16 * kibibyte,
  bodyMaxDepth: 64,
  bodyMaxKeys: 10_000,
  headersMaxBytes: 16 * kibibyte,

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
  defaultCancelGraceMs: 10 * seconds,

  // Interactions (D-38)
  answerMaxCharacters: 100_000,
  answerMaxChoices: 100,

  // Event stream (D-02, D-30, D-33, D-35)
  eventIdDigits: 12,
  streamRetryMs: 2 * seconds,
  streamPingMs: 15 * seconds,
  streamStallMs: 30 * seconds,
  defaultStreamAgeMs: 60 * minutes,

  // Files (D-41)
  defaultFileMaxBytes: 100 * mebibyte,

  // Tokens and secrets (D-50, D-65)
  tokenLifetimeSeconds: 600,
  clientSecretCharacters: 43,
  clientSecretChecksumCharacters: 6,
  secretHintCharacters: 4,

  // Organization management (spec §8, D-61 to D-63)
  clientsPerOrganization: 20,
  tenantsPerClient: 100,
  liveCredentialsPerClient: 2,
  credentialDaysMin: 1,
  credentialDaysMax: 365,
  credentialDaysDefault: 90,

  // Rates (D-68); zero per minute means no limit
  defaultManagementRatePerMinute: 60,
  defaultApiRatePerMinute: 6000,

  // Life of the process (issue 2)
  drainMs: 25 * seconds,
} as const;
