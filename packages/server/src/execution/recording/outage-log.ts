import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';

/** Time without another line about the same run. */
const quietMs = 60_000;

/**
 * Tells the operator that events of a run wait for the storage, and when they were stored. Every run tries twice a
 * second: a line for each try would bury what else happens, and help to fill a disk that is already full.
 */
export class OutageLog {
  readonly #services: { readonly clock: Clock; readonly log: Log };
  readonly #runId: string;
  /** Failed tries since events were stored last. */
  #tries = 0;
  #toldAt = Number.NEGATIVE_INFINITY;
  /** A line says that the events wait, and none yet that they were stored. */
  #isOpen = false;

  constructor(services: { readonly clock: Clock; readonly log: Log }, runId: string) {
    this.#services = services;
    this.#runId = runId;
  }

  failed(error: unknown): void {
    const { clock, log } = this.#services;
    this.#tries += 1;
    if (Math.abs(clock.now() - this.#toldAt) < quietMs) return;
    this.#toldAt = clock.now();
    this.#isOpen = true;
    const fields = { run_id: this.#runId, tries: this.#tries };
    log.error('events not stored; retrying', error, fields);
  }

  stored(): void {
    if (this.#tries === 0) return;
    const fields = { run_id: this.#runId, tries: this.#tries };
    if (this.#isOpen) this.#services.log.info('events stored again', fields);
    this.#isOpen = false;
    this.#tries = 0;
  }
}
