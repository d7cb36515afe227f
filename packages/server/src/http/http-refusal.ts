import type { ErrorCode } from '@convoke/contract';
import { Refusal, type RefusalOptions } from '../app/refusal.ts';

/** A refusal that also sets response headers. */
export class HttpRefusal extends Refusal {
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    code: ErrorCode,
    { headers, ...options }: RefusalOptions & Pick<HttpRefusal, 'headers'>,
  ) {
    super(code, options);
    this.headers = headers;
  }
}
