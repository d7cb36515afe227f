import type { JsonObject } from '../../domain/json.ts';
import type { CallResult, Touches } from '../../domain/run/tool-call.ts';
import type { BeginOutcome, DecideOutcome, Effects } from '../../ports/harness.ts';
import type { EventQueue } from '../event-queue.ts';
import { redactedJson } from '../event-redaction.ts';
import type { ToolCall } from './approvals.ts';
import type { MessageCalls } from './message-calls.ts';
import { type ClaudeMessage, toolResultsIn } from './messages.ts';
import { askToolName } from './questions.ts';
import { type ClaudeSettings, toolNameOf } from './settings.ts';

/** These change nothing (D-81). */
const harmless: ReadonlySet<string> = new Set(['Read', 'Glob', 'Grep']);

export interface CallGateParts {
  readonly effects: Effects;
  readonly queue: EventQueue;
  readonly settings: Pick<ClaudeSettings, 'mcpServers'>;
  readonly redact: (text: string) => string;
}

interface BegunCall {
  readonly ref: string;
  /** It changes nothing. */
  readonly isFree: boolean;
  readonly begun: Promise<BeginOutcome>;
}

/**
 * Passes Claude's tool calls by the ledger: the intent before a call starts, its result when Claude reports it (D-80).
 */
export class CallGate {
  readonly #parts: CallGateParts;
  readonly #calls = new Map<string, BegunCall>();

  constructor(parts: CallGateParts) {
    this.#parts = parts;
  }

  /** Calls with an effect that may be under way. */
  get inFlight(): number {
    let count = 0;
    for (const { isFree } of this.#calls.values()) if (!isFree) count += 1;
    return count;
  }

  /** The input as the ledger and people see it. */
  shown(input: JsonObject): JsonObject {
    return redactedJson(input, this.#parts.redact);
  }

  /**
   * Resolves when the intent is durable, or when the call must not start. It begins once, however often Claude asks
   * about it. `ref`: its name in the ledger, if an earlier attempt had begun it.
   */
  begin(call: ToolCall, ref: string = call.id): Promise<BeginOutcome> {
    // A question is asked, not carried out (D-509).
    if (call.name === askToolName) return Promise.resolve({ kind: 'begun' });
    const known = this.#calls.get(call.id);
    if (known !== undefined) return known.begun;
    const begun = this.#write(call, ref);
    this.#calls.set(call.id, { ref, begun, isFree: harmless.has(call.name) });
    return begun;
  }

  /** The decision of the rules about a call, before it begins. */
  async decide({ id, name, input }: ToolCall): Promise<DecideOutcome> {
    const { effects, queue } = this.#parts;
    await queue.handled();
    return effects.decide({ ref: id, toolName: toolNameOf(name), input: this.shown(input) });
  }

  /** Resolves when the result is durable. */
  async end(id: string, { ok, output }: CallResult): Promise<void> {
    const { effects, queue, redact } = this.#parts;
    const call = this.#calls.get(id);
    if (call === undefined) return;
    const { kind } = await call.begun;
    await queue.handled();
    if (kind === 'begun' && !queue.isEnded)
      await effects.end(call.ref, { ok, output: redact(output) });
    this.#calls.delete(id);
  }

  async #write({ id, name, input }: ToolCall, ref: string): Promise<BeginOutcome> {
    const { effects, queue } = this.#parts;
    await queue.handled();
    const touches = this.#touchedBy(name);
    const names = { ref, toolCallId: id, toolName: toolNameOf(name), isFree: harmless.has(name) };
    const begun: BeginOutcome = queue.isEnded
      ? { kind: 'left' }
      : await effects.begin({ ...names, input: this.shown(input), touches });
    if (begun.kind !== 'begun') this.#calls.delete(id);
    return begun;
  }

  #touchedBy(name: string): Touches {
    const [server = '', tool] = toolNameOf(name).split('/', 2);
    const declared = tool === undefined ? undefined : this.#parts.settings.mcpServers[server];
    return declared !== undefined && 'url' in declared ? 'outside' : 'both';
  }
}

/** Writes the results that a message of Claude contains. */
export async function recordResults(
  message: Extract<ClaudeMessage, { type: 'user' }>,
  gate: CallGate,
  calls: MessageCalls,
): Promise<void> {
  for (const { tool_use_id: id, is_error, content = '' } of toolResultsIn(message)) {
    const output = typeof content === 'string' ? content : JSON.stringify(content);
    await gate.end(id, { ok: is_error !== true, output });
    calls.settle(id);
  }
}
