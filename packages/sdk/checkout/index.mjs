// `@convoke/sdk` inside a checkout. The names are listed because a module's exports are known before it runs; a test
// compares them with those of the sources.
import { builtModule, runsTypeScript } from './built-module.mjs';

const sdk = await (runsTypeScript
  ? import('../src/index.ts')
  : /** @type {Promise<typeof import('../src/index.ts')>} */ (import(builtModule('index.js'))));

export const {
  AuthenticationError,
  ConflictError,
  ConnectionError,
  Convoke,
  ConvokeAdmin,
  ConvokeError,
  InvalidRequestError,
  NoOutput,
  NotFoundError,
  PermissionError,
  RateLimitError,
  RunError,
  RunText,
  RunTranscript,
  ServerError,
  WebhookVerificationError,
  auditActionName,
  auditSentence,
  interruptedText,
  isTerminalEvent,
  openSession,
  verifyWebhook,
} = sdk;
