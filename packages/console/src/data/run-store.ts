import type { Convoke, RunEvent, RunRecord } from '@convoke/sdk';
import { type ReadonlySignal, signal } from '@preact/signals';
import { inBackground } from './in-background.ts';
import { type RunSnapshot, RunView } from './run-view.ts';

/** A run that a hidden page follows no longer; it continues after the last event when the page is seen again. */
const hiddenMs = 30_000;
/** The page says that it reconnects; it does not give up. */
const patienceMs = 24 * 3_600_000;
/** Events that arrive together are drawn together. */
const drawMs = 40;

/** Follows one run: its record, and its events as the page shows them. */
export class RunStore {
  readonly #client: Convoke;
  readonly #ids: { readonly id: string; readonly sessionId: string };
  readonly #record: ReturnType<typeof signal<RunRecord>>;
  readonly #error = signal<unknown>(undefined);
  readonly #taken: RunView;
  readonly #view: ReturnType<typeof signal<RunSnapshot>>;
  #reading: Promise<void> | undefined;
  #isStale = false;
  #stop: AbortController | undefined;
  #drawing: ReturnType<typeof setTimeout> | undefined;
  #hiding: ReturnType<typeof setTimeout> | undefined;

  constructor(client: Convoke, record: RunRecord) {
    this.#client = client;
    this.#ids = { id: record.id, sessionId: record.session_id };
    this.#record = signal(record);
    this.#taken = new RunView(record.created_at);
    this.#view = signal(this.#taken.snapshot());
  }

  get record(): ReadonlySignal<RunRecord> {
    return this.#record as ReadonlySignal<RunRecord>;
  }

  /** The view that results from the events; changes at most once in `drawMs`. */
  get view(): ReadonlySignal<RunSnapshot> {
    return this.#view as ReadonlySignal<RunSnapshot>;
  }

  get error(): ReadonlySignal<unknown> {
    return this.#error;
  }

  /** Follows until the returned function is called. */
  open(): () => void {
    const seen = () => this.#seen();
    document.addEventListener('visibilitychange', seen);
    this.#follow();
    return () => {
      document.removeEventListener('visibilitychange', seen);
      clearTimeout(this.#hiding);
      clearTimeout(this.#drawing);
      this.#stop?.abort();
    };
  }

  /**
   * Reads the record again. One request at a time, and one more after it for all calls during it: of two at once,
   * the older answer could come last and would stay.
   */
  refresh(): Promise<void> {
    this.#isStale = true;
    this.#reading ??= this.#readWhileStale();
    return this.#reading;
  }

  async #readWhileStale(): Promise<void> {
    while (this.#isStale) {
      this.#isStale = false;
      try {
        this.#record.value = await this.#read();
      } catch (error) {
        this.#error.value = error;
      }
    }
    this.#reading = undefined;
  }

  async #read(): Promise<RunRecord> {
    return this.#handle().read();
  }

  async cancel(): Promise<void> {
    this.#record.value = await this.#handle().cancel();
    // A read that began before may put the older state back.
    if (this.#reading !== undefined) await this.refresh();
  }

  #handle() {
    return this.#client.sessions.at(this.#ids.sessionId).runs.at(this.#ids.id);
  }

  #seen(): void {
    clearTimeout(this.#hiding);
    if (document.hidden) this.#hiding = setTimeout(() => this.#stop?.abort(), hiddenMs);
    else if (this.#stop?.signal.aborted === true && !this.#taken.hasEnded) this.#follow();
  }

  #follow(): void {
    const stop = new AbortController();
    this.#stop = stop;
    this.#take(stop.signal).catch((error: unknown) => {
      if (!stop.signal.aborted) this.#error.value = error;
    });
  }

  async #take(signal: AbortSignal): Promise<void> {
    const after = this.#taken.lastId;
    for await (const event of this.#handle().follow({ after, signal, patienceMs })) {
      if (!this.#taken.take(event)) continue;
      this.#draw();
      if (changesRecord(event)) inBackground(this.refresh());
    }
    await this.refresh();
  }

  #draw(): void {
    this.#drawing ??= setTimeout(() => {
      this.#drawing = undefined;
      this.#view.value = this.#taken.snapshot();
    }, drawMs);
  }
}

const textual = new Set(['message_delta', 'context_file_loaded', 'claude_md_loaded']);

/** Whether the record of the run differs after this event. */
function changesRecord({ type }: RunEvent): boolean {
  return !type.includes('.') && !textual.has(type);
}
