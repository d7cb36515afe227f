import { type CutDelta, outputTextMaxCharacters } from '../app/runs/output-text.ts';
import type { Agent } from '../domain/agent.ts';
import type { Json, JsonObject } from '../domain/json.ts';
import { plainName } from '../domain/run/plain-text.ts';
import type { Prices } from '../domain/usage/prices.ts';
import { harnessEventType } from '../domain/run/run-event.ts';
import type { HarnessEvent, LegInput, UsageReport } from '../ports/harness.ts';
import type { ClaimedLeg } from './claim-leg.ts';
import { LegUsage, modelMaxCharacters } from './usage/leg-usage.ts';
import { type InterruptedLeg, discardFrom } from './recording/discarded-text.ts';
import type { LegWriter } from './recording/leg-writer.ts';
import type { LegOutcome } from './recording/record-leg-end.ts';
import { type NewText, RepeatedText } from './recording/repeated-text.ts';
import type { TracedLeg } from './traced-leg.ts';

/** Characters of the answer so far that a leg gets. */
const saidCharactersMax = 4000;

/** Where an agent's output goes. */
interface Log {
  readonly agent: Agent;
  readonly writer: LegWriter;
}

/** Passes the events of a harness on to the log, and accumulates the run's output text. */
export class LegOutput {
  /** Undefined once the text is longer than the field of the run holds. */
  #text: string | undefined;
  readonly #prices: Prices;
  readonly #traced: Pick<TracedLeg, 'take'> | undefined;
  #repeated = new RepeatedText([]);
  #interrupted: InterruptedLeg | undefined;
  #usage: LegUsage | undefined;
  #isUsagePartial = false;
  #isAtRecoveryPoint = true;
  /** The model of the last delta, as the agent named it and as the log shows it: most deltas name the same one. */
  #model: { readonly given: string | undefined; readonly shown: string } | undefined;

  constructor(textSoFar: string | undefined, prices: Prices, traced?: Pick<TracedLeg, 'take'>) {
    this.#traced = traced;
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

  /** Compares the leg with the text that was cut in the previous one. */
  compareWith(deltas: readonly CutDelta[], interrupted: InterruptedLeg): void {
    this.#repeated = new RepeatedText(deltas);
    this.#interrupted = interrupted;
  }

  /** The end of the answer so far, without what the leg is to say again. */
  saidBefore(input: LegInput): string | undefined {
    if (input.kind === 'prompt') return undefined;
    const text = this.#text ?? '';
    return text.slice(0, text.length - this.#repeated.open).slice(-saidCharactersMax);
  }

  /** Takes back what was cut and not said again: call it before a recovery point, a question and a good end. */
  settle(agent: Agent, writer: LegWriter): Promise<void> | undefined {
    return this.#say(this.#repeated.settle(), { agent, writer });
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
        this.#isAtRecoveryPoint = event.point !== undefined;
        const said = this.#repeated.take(event.text);
        const pause = this.#say(said, { agent, writer, model: event.model });
        return event.point === undefined
          ? pause
          : this.#point(event.point, { agent, writer, pause });
      }
      case 'permission_request':
      case 'user_question': {
        this.#isAtRecoveryPoint = false;
        if (event.type === 'permission_request') this.#traced?.take(event.type, requestData(event));
        const pause = this.settle(agent, writer);
        return writer.push(event) ?? pause;
      }
      case 'wait': {
        this.#isAtRecoveryPoint = false;
        const pause = this.settle(agent, writer);
        return writer.push(event) ?? pause;
      }
      case 'checkpoint':
        this.#isAtRecoveryPoint = event.recovery === true;
        return this.#checkpoint(event, agent, writer);
      case 'usage':
        return this.#charge(event, agent, writer);
      case 'custom': {
        const type = harnessEventType(agent.framework, event.name);
        if (isAboutCall(event.name)) this.#traced?.take(type, event.data);
        const pause = writer.push({ type, data: event.data });
        return event.point === undefined
          ? pause
          : this.#point(event.point, { agent, writer, pause });
      }
      default:
        return event satisfies never;
    }
  }

  /** In the same turn as what it covers, so that one batch has both. */
  #point(
    point: Json,
    { agent, writer, pause }: Log & { readonly pause: Promise<void> | undefined },
  ): Promise<void> | undefined {
    const settled = this.settle(agent, writer);
    return writer.checkpoint(point, true) ?? settled ?? pause;
  }

  #say(
    { text, discard }: NewText,
    { agent, writer, model }: Log & { readonly model?: string | undefined },
  ): Promise<void> | undefined {
    let pause: Promise<void> | undefined;
    if (discard !== undefined && this.#interrupted !== undefined) {
      this.#text = this.#text?.slice(0, -discard.characters);
      const drafts = discardFrom(discard.id, this.#interrupted, agent);
      for (const draft of drafts) pause = writer.push(draft) ?? pause;
    }
    if (text === '') return pause;
    this.#append(text);
    const { framework } = agent;
    const data = { text, framework, model: this.#modelOf(model, agent) };
    return writer.push({ type: 'message_delta', data }) ?? pause;
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
    const settled = recovery === true ? this.settle(agent, writer) : undefined;
    const pause = writer.checkpoint(state, recovery === true) ?? settled;
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

/** Frameworks name these events alike (D-191). */
function isAboutCall(name: string): boolean {
  return name === 'tool_call' || name === 'tool_result' || name === 'tool_call_update';
}

function requestData({
  ref,
  toolCallId,
  toolName: tool_name,
  toolInput: tool_input,
}: Extract<HarnessEvent, { type: 'permission_request' }>): JsonObject {
  const id = toolCallId === undefined ? {} : { tool_call_id: toolCallId };
  return { interaction_key: ref, request_id: ref, tool_name, tool_input, ...id };
}
