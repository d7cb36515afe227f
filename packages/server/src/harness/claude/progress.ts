import type { HarnessEvent } from '../../ports/harness.ts';
import type { GrantedCalls, ParkedRequest } from '../parked-requests.ts';
import type { Beginning } from './beginning.ts';
import type { Deferred, Progress } from './state.ts';

/** The end of the answer that is kept, to tell Claude where it was stopped. */
const saidCharactersMax = 400;

/** The content of the checkpoints of a leg. */
export class LegProgress {
  session: string | undefined;
  deferred: Deferred | null;
  readonly #own: Pick<Progress, 'run' | 'isNewSession'>;
  #asked: readonly ParkedRequest[];
  #said = '';

  constructor({ before, progress, isNewSession }: Beginning, run: string) {
    this.session = before?.session;
    this.deferred = before?.deferred ?? null;
    this.#own = { run, ...(isNewSession && { isNewSession }) };
    this.#asked = progress?.asked ?? [];
  }

  /** A recovery point; undefined before Claude has a session. */
  point(more: { readonly said?: string } = {}): HarnessEvent | undefined {
    const { session, deferred } = this;
    if (session === undefined) return undefined;
    const progress = { ...this.#own, asked: [...this.#asked], ...more };
    return { type: 'checkpoint', state: { session, deferred, progress }, recovery: true };
  }

  ask(requests: readonly ParkedRequest[]): void {
    this.#asked = [...this.#asked, ...requests];
  }

  answered(refs: readonly string[]): void {
    this.#asked = this.#asked.filter(({ ref }) => !refs.includes(ref));
  }

  /** Claude has got the prompt: what it says about earlier requests need not be said again. */
  heard(granted: GrantedCalls, asking: boolean): void {
    if (!asking) this.#asked = this.#asked.filter(({ ref }) => granted.has(ref));
  }

  say(event: HarnessEvent): void {
    if (event.type !== 'message_delta') return;
    // Longer than the part that is kept, so that a secret at its start is still whole.
    this.#said = `${this.#said}${event.text}`.slice(-4 * saidCharactersMax);
  }

  /** The end of what Claude said in this leg. */
  saidWith(redact: (text: string) => string): string {
    return redact(this.#said).slice(-saidCharactersMax);
  }
}
