import type { LegEnd } from '../ports/harness.ts';

type ErrorEnd = Extract<LegEnd, { outcome: 'error' }>;

const messageMaxCharacters = 1000;

/** The reason a leg ends with an error, worded for the caller who started the run. */
export class LegFailure extends Error {
  override readonly name = 'LegFailure';
  readonly code: ErrorEnd['code'];
  /** The agent still works and refused this request. */
  readonly isRefusal: boolean;

  constructor(code: ErrorEnd['code'], message: string, { isRefusal = false } = {}) {
    super(message);
    this.code = code;
    this.isRefusal = isRefusal;
  }

  /** Returns the same failure with secrets removed from the message. */
  redacted(redact: (text: string) => string): LegFailure {
    const { code, message, isRefusal } = this;
    return new LegFailure(code, redact(message), { isRefusal });
  }

  get end(): ErrorEnd {
    const { code, message } = this;
    return { type: 'end', outcome: 'error', code, message: message.slice(0, messageMaxCharacters) };
  }
}
