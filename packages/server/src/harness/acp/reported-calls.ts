import type { ToolCallUpdate } from '@agentclientprotocol/sdk';
import type { ReportedCall } from './state.ts';

/** Calls that a checkpoint keeps, the newest. */
const callsMax = 100;
const titleCharactersMax = 200;
/** These change nothing (D-81). */
const harmless: ReadonlySet<string> = new Set(['read', 'search', 'think']);

export function isHarmless(kind: string): boolean {
  return harmless.has(kind);
}

/** The calls with an effect that an agent has reported in its run, with the outcome that it reported. */
export class ReportedCalls {
  #calls: readonly ReportedCall[];

  constructor(before: readonly ReportedCall[]) {
    this.#calls = before;
  }

  get all(): readonly ReportedCall[] {
    return this.#calls;
  }

  /** True when the report changes what is known. `ref`: the agent asked for permission under this name. */
  take(
    { toolCallId: id, kind, title, status }: ToolCallUpdate,
    redact: (text: string) => string,
    ref?: string,
  ): boolean {
    if (isHarmless(kind ?? 'other')) return false;
    const known = this.#calls.find((call) => call.id === id);
    const now = statusOf(status);
    const name = ref ?? known?.ref;
    if (known?.status === now && known.ref === name) return false;
    const call: ReportedCall = {
      id,
      title: redact(title ?? '').slice(0, titleCharactersMax),
      status: now,
      ...(name !== undefined && { ref: name }),
    };
    const others = this.#calls.filter((each) => each !== known);
    this.#calls = [...others, call].slice(-callsMax);
    return true;
  }
}

function statusOf(status: ToolCallUpdate['status']): ReportedCall['status'] {
  if (status === 'completed') return 'done';
  return status === 'failed' ? 'not done' : 'unknown';
}
