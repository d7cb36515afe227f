import { RunTranscript, type TranscriptItem } from '@convoke/faces';
import type { Services } from '../app/services.ts';
import type { Json, JsonObject } from '../domain/json.ts';
import { modelName, telemetryProvider } from '../domain/usage/model-name.ts';
import type { ModelRequest } from '../domain/usage/model-request.ts';
import type { Run } from '../domain/run/run.ts';
import type { LegContext, NewCall } from '../ports/harness.ts';
import type { LegTrace } from '../ports/traces.ts';
import type { LegOutcome } from './recording/record-leg-end.ts';

/** Later calls of a leg are neither traced nor measured: the calls of a leg are kept in memory. */
const callsMax = 10_000;

type Outcome = { readonly status: LegOutcome['status'] | 'cut'; readonly code?: string };

interface OpenCall {
  readonly name: string;
  readonly from: number;
  readonly input: Json;
  /** A person is asked whether it may begin. */
  isAsked: boolean;
}

/**
 * The spans and durations of one leg: of the leg itself, of its tool calls and of its requests to models. Calls are
 * read from the events of the leg, so they are the same for each framework (D-582, D-584).
 */
export class TracedLeg {
  readonly #services: Pick<Services, 'clock' | 'metrics'>;
  readonly #trace: LegTrace | undefined;
  readonly #transcript = new RunTranscript();
  readonly #open = new Map<string, OpenCall>();
  /** When calls began, as far as the ledger knows, by its name of the call. */
  readonly #begun = new Map<string, { readonly toolName: string; readonly at: number }>();
  #events = 0;
  #outcome: Outcome | undefined;

  constructor(services: Pick<Services, 'clock' | 'metrics' | 'traces'>, run: Run) {
    this.#services = services;
    const from = run.legStartedAt ?? services.clock.now();
    this.#trace = services.traces.runs?.leg(run, from);
  }

  /** The part that the harness gets. */
  get context(): Pick<LegContext, 'asked' | 'trace'> {
    return { asked: (request) => this.#asked(request), trace: this.#trace };
  }

  async within(work: () => Promise<void>): Promise<void> {
    try {
      await (this.#trace?.within(work) ?? work());
    } finally {
      this.#end();
    }
  }

  endsAs(outcome: Outcome): void {
    this.#outcome = outcome;
  }

  /** The ledger lets a call begin. */
  begun({ ref, toolName }: Pick<NewCall, 'ref' | 'toolName'>): void {
    if (this.#begun.size >= callsMax) return;
    this.#begun.set(ref, { toolName, at: this.#services.clock.now() });
  }

  /** An event of the leg, as its log shows it. */
  take(type: string, data: JsonObject): void {
    if (this.#events >= callsMax * 2) return;
    this.#events += 1;
    const items = this.#transcript.take({ id: String(this.#events), type, data });
    for (const item of items) this.#read(item);
  }

  #read(item: TranscriptItem): void {
    if (item.kind === 'call') this.#call(item.call, item);
    if (item.kind === 'result') this.#result(item);
    if (item.kind === 'ask' && item.about === 'permission') {
      this.#call(item.call, item);
      const call = this.#open.get(item.call);
      if (call !== undefined) call.isAsked = true;
    }
  }

  #call(id: string, { name, input }: { readonly name: string; readonly input: Json }): void {
    if (this.#open.has(id)) return;
    const from = this.#beginOf(id, name) ?? this.#services.clock.now();
    this.#open.set(id, { name, from, input, isAsked: false });
  }

  /**
   * A leg may show only the result of a call that another one showed. Names in the ledger are not those of all
   * frameworks.
   */
  #beginOf(id: string, name: string): number | undefined {
    const named = [...this.#begun].find(([ref, { toolName }]) => ref === id || toolName === name);
    if (named === undefined) return undefined;
    const [ref, { at }] = named;
    this.#begun.delete(ref);
    return at;
  }

  #result(item: Extract<TranscriptItem, { kind: 'result' }>): void {
    const call = this.#open.get(item.call);
    this.#open.delete(item.call);
    if (call === undefined) return;
    this.#called(item.call, call, {
      output: item.output,
      error: item.ok ? undefined : 'tool_error',
    });
  }

  #called(
    id: string,
    { name, from, input }: OpenCall,
    end: { readonly output?: Json; readonly error: string | undefined },
  ): void {
    const to = this.#services.clock.now();
    const seconds = Math.max(to - from, 0) / 1000;
    this.#services.metrics.toolSeconds.observe(seconds, name, end.error ?? '');
    this.#trace?.called({ id, name, from, to, input, ...end });
  }

  #asked({ model, seconds, error, usage }: ModelRequest): void {
    const { clock, metrics } = this.#services;
    const named = [telemetryProvider(model), modelName(model)] as const;
    metrics.requestToModelSeconds.observe(seconds, ...named, error ?? '');
    const to = clock.now();
    this.#trace?.asked({ model, error, usage, from: to - seconds * 1000, to });
  }

  #end(): void {
    const { status, code } = this.#outcome ?? { status: 'lost' };
    for (const [id, call] of this.#open) {
      // It has not begun: the span of the wait tells of it.
      if (status === 'waiting' && call.isAsked) continue;
      this.#called(id, call, { error: 'cancelled' });
    }
    this.#open.clear();
    this.#trace?.end({ outcome: status, error: code, to: this.#services.clock.now() });
  }
}
