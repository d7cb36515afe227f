import { setTimeout as pause } from 'node:timers/promises';
import { query } from '../../support/postgres-databases.ts';

const lookEveryMs = 100;

/** Looks at the database while the load continues: what must hold at every moment, not only at the end. */
export class ClusterWatch {
  readonly #url: string;
  readonly #watching: Promise<void>;
  #isOver = false;
  looks = 0;
  /** The most runs that one tenant had executing at once. */
  widest = 0;
  /** Sessions that had two runs executing at once. */
  readonly torn = new Set<string>();

  constructor(url: string) {
    this.#url = url;
    this.#watching = this.#watch();
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#watching;
  }

  async #watch(): Promise<void> {
    while (!this.#isOver) {
      const rows = await query(
        this.#url,
        `select session_id, count(*)::int as runs from runs where lease_owner is not null group by session_id`,
        // It may be the database that is away.
      ).catch(() => undefined);
      if (rows !== undefined) this.#check(rows as { session_id: string; runs: number }[]);
      await pause(lookEveryMs);
    }
  }

  #check(sessions: readonly { readonly session_id: string; readonly runs: number }[]): void {
    this.looks += 1;
    this.widest = Math.max(
      this.widest,
      sessions.reduce((sum, { runs }) => sum + runs, 0),
    );
    for (const { session_id, runs } of sessions) if (runs > 1) this.torn.add(session_id);
  }
}
