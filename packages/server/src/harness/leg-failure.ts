import type { LegEnd } from '../ports/harness.ts';

type ErrorEnd = Extract<LegEnd, { outcome: 'error' }>;

const messageMaxCharacters = 1000;

/** Why a leg cannot go on, in words for whoever started the run. */
export class LegFailure extends Error {
  override readonly name = 'LegFailure';
  readonly code: ErrorEnd['code'];
  /** The agent is well and said no, to this request. */
  readonly isRefusal: boolean;

  constructor(code: ErrorEnd['code'], message: string, { isRefusal = false } = {}) {
    super(message);
    this.code = code;
    this.isRefusal = isRefusal;
  }

  /** The same, without what must not be shown. */
  redacted(redact: (text: string) => string): LegFailure {
    const { code, message, isRefusal } = this;
    return new LegFailure(code, redact(message), { isRefusal });
  }

  get end(): ErrorEnd {
    const { code, message } = this;
    return { type: 'end', outcome: 'error', code, message: message.slice(0, messageMaxCharacters) };
  }
}
