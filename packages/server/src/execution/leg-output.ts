import { outputTextMaxCharacters } from '../app/runs/output-text.ts';
import type { Agent } from '../domain/agent.ts';
import { plainName } from '../domain/run/plain-text.ts';
import type { Prices } from '../domain/usage/prices.ts';
import { harnessEventType } from '../domain/run/run-event.ts';
import type { HarnessEvent, UsageReport } from '../ports/harness.ts';
import type { ClaimedLeg } from './claim-leg.ts';
import { LegUsage, modelMaxCharacters } from './usage/leg-usage.ts';
import type { LegWriter } from './recording/leg-writer.ts';
import type { LegOutcome } from './recording/record-leg-end.ts';

/** Passes the events of a harness on to the log, and accumulates the run's output text. */
export class LegOutput {
  /** Undefined once the text is longer than the field of the run holds. */
  #text: string | undefined;
  readonly #prices: Prices;
  #usage: LegUsage | undefined;
  #isUsagePartial = false;
  #isAtRecoveryPoint = true;
  /** The model of the last delta, as the agent named it and as the log shows it: most deltas name the same one. */
  #model: { readonly given: string | undefined; readonly shown: string } | undefined;

  constructor(textSoFar: string | undefined, prices: Prices) {
    this.#text = textSoFar;
    this.#prices = prices;
  }

  get totals(): Pick<LegOutcome, 'outputText' | 'isUsagePartial'> {
    return { outputText: this.#text || null, isUsagePartial: this.#isUsagePartial };
  }

  /** Whether the last recovery point covers everything that was said and asked. */
  get isAtRecoveryPoint(): boolean {
    return this.#isAtRecoveryPoint;
  }

  /** Returns a promise when the leg has to wait for the log. */
  write(
    event: Exclude<HarnessEvent, { type: 'end' }>,
    agent: Agent,
    writer: LegWriter,
  ): Promise<void> | undefined {
    switch (event.type) {
      case 'message_delta': {
        if (event.text === '') return undefined;
        this.#append(event.text);
        this.#isAtRecoveryPoint = event.point !== undefined;
        const { framework } = agent;
        const data = { text: event.text, framework, model: this.#modelOf(event.model, agent) };
        const pause = writer.push({ type: 'message_delta', data });
        // In this same turn, so that one batch has both.
        return event.point === undefined ? pause : (writer.checkpoint(event.point, true) ?? pause);
      }
      case 'permission_request':
      case 'user_question':
        this.#isAtRecoveryPoint = false;
        return writer.push(event);
      case 'checkpoint':
        this.#isAtRecoveryPoint = event.recovery === true;
        return this.#checkpoint(event, agent, writer);
      case 'usage':
        return this.#charge(event, agent, writer);
      case 'custom': {
        const type = harnessEventType(agent.framework, event.name);
        const pause = writer.push({ type, data: event.data });
        return event.point === undefined ? pause : (writer.checkpoint(event.point, true) ?? pause);
      }
      default:
        return event satisfies never;
    }
  }

  #modelOf(given: string | undefined, agent: Agent): string {
    if (this.#model !== undefined && this.#model.given === given) return this.#model.shown;
    const own = agent.model ?? agent.framework;
    const shown = plainName(given ?? own, modelMaxCharacters) || own;
    this.#model = { given, shown };
    return shown;
  }

  /** The report of usage comes in this same turn, so that one batch has both. */
  #checkpoint(
    { state, recovery, usage }: Extract<HarnessEvent, { type: 'checkpoint' }>,
    agent: Agent,
    writer: LegWriter,
  ): Promise<void> | undefined {
    const pause = writer.checkpoint(state, recovery === true);
    return usage === undefined ? pause : (this.#charge(usage, agent, writer) ?? pause);
  }

  #charge(report: UsageReport, agent: Agent, writer: LegWriter): Promise<void> | undefined {
    this.#usage ??= new LegUsage(agent, this.#prices);
    this.#isUsagePartial ||= report.isPartial === true;
    const entry = this.#usage.entryOf(report);
    // The leg waits for the budget check.
    return entry === undefined ? undefined : writer.usage(entry);
  }

  #append(text: string): void {
    const joined = this.#text === undefined ? undefined : this.#text + text;
    this.#text = (joined?.length ?? 0) > outputTextMaxCharacters ? undefined : joined;
  }
}

/**
 * The output of the legs before. Undefined for a parked run without a text, which has no output yet, or more than its
 * field holds: only the log knows.
 */
export function outputTextSoFar({ run, input }: ClaimedLeg): string | undefined {
  return input.kind === 'prompt' ? (run.outputText ?? '') : (run.outputText ?? undefined);
}
