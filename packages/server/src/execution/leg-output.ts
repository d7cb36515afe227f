import { outputTextMaxCharacters, readOutputText } from '../app/output-text.ts';
import type { Services } from '../app/services.ts';
import type { Agent } from '../domain/agent.ts';
import { harnessEventType } from '../domain/run-event.ts';
import type { HarnessEvent } from '../ports/harness.ts';
import type { ClaimedLeg } from './claim-leg.ts';
import type { LegWriter } from './leg-writer.ts';
import type { LegOutcome } from './record-leg.ts';

/** Passes the events of a harness on to the log, and accumulates the run's output text and token usage. */
export class LegOutput {
  /** Undefined once the text is longer than the field of the run holds. */
  #text: string | undefined;
  #usage: LegOutcome['usage'];

  constructor(textSoFar: string | undefined) {
    this.#text = textSoFar;
  }

  get totals(): Pick<LegOutcome, 'outputText' | 'usage'> {
    return { outputText: this.#text || null, usage: this.#usage };
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
        const model = event.model ?? agent.model ?? agent.framework;
        const data = { text: event.text, framework: agent.framework, model };
        return writer.push({ type: 'message_delta', data });
      }
      case 'permission_request':
      case 'user_question':
        return writer.push(event);
      case 'checkpoint':
        writer.checkpoint(event.state, event.recovery === true);
        return undefined;
      case 'usage':
        this.#usage = event;
        return undefined;
      case 'custom':
        return writer.push({
          type: harnessEventType(agent.framework, event.name),
          data: event.data,
        });
      default:
        return event satisfies never;
    }
  }

  #append(text: string): void {
    const joined = this.#text === undefined ? undefined : this.#text + text;
    this.#text = (joined?.length ?? 0) > outputTextMaxCharacters ? undefined : joined;
  }
}

/** A parked run without a text has no output yet, or more than its field holds: only the log knows. */
export async function outputTextSoFar(
  store: Services['store'],
  { run, input }: ClaimedLeg,
): Promise<string | undefined> {
  if (input.kind === 'prompt' || run.outputText !== null) return run.outputText ?? '';
  return readOutputText(store, run);
}
