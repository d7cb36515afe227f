import type { Harness, HarnessEvent, Leg, LegContext, LegInput } from '../../ports/harness.ts';
import type { Sandbox, SandboxedProcess, SpawnOptions } from '../../ports/sandbox.ts';
import { inBackground } from '../../runtime/in-background.ts';
import type { AiSdkParts } from './parts.ts';
import { References } from './references.ts';
import { type AiSdkSettings, readAiSdk } from './settings.ts';

/**
 * Agents on the Vercel AI SDK: any model of an OpenAI-compatible endpoint, OpenAI, Anthropic or Google, with the tools
 * bundled here and those of MCP servers. The SDK is large, so the first leg loads it, not the start of the server.
 */
export function aiSdkHarness(parts: AiSdkParts): Harness<AiSdkSettings> {
  return {
    framework: 'ai-sdk',
    readsWords: true,
    output: 'submitted',
    afterLoss: 'repeat',
    keepsCutText: true,
    countsTokens: true,
    reportsRequests: true,
    usesContextTexts: true,
    callsAgents: true,
    hasSleepTool: true,
    read: readAiSdk,
    start: (input, context) => new AiSdkLeg(input, context, parts),
  };
}

class AiSdkLeg implements Leg {
  readonly #input: LegInput;
  readonly #context: LegContext<AiSdkSettings>;
  readonly #parts: AiSdkParts;
  readonly #stop = new AbortController();
  readonly #processes: LegProcesses;
  readonly #references: References;
  #isYielding = false;

  constructor(input: LegInput, context: LegContext<AiSdkSettings>, parts: AiSdkParts) {
    this.#input = input;
    this.#context = context;
    this.#parts = parts;
    this.#processes = new LegProcesses(parts.sandbox);
    this.#references = new References(context.connections);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<HarnessEvent, void> {
    const { sandbox: _, ...rest } = this.#parts;
    const isYielding = () => this.#isYielding;
    const own = { processes: this.#processes, references: this.#references };
    const parts = { ...rest, ...own, isYielding };
    const signal = AbortSignal.any([this.#context.signal, this.#stop.signal]);
    const { runLeg } = await import('./leg.ts');
    for await (const event of runLeg(this.#input, { ...this.#context, signal }, parts)) {
      // After `end` no process of the leg may run.
      if (event.type === 'end') await this.#processes.kill();
      yield event;
    }
  }

  /** Runs are parked while they wait, so answers always come with a resume leg. */
  async answer(): Promise<boolean> {
    return false;
  }

  async cancel(): Promise<void> {
    this.#stop.abort();
  }

  /** The safe points are behind the model's message, before its calls begin, and behind the calls that run. */
  async yield(): Promise<void> {
    this.#isYielding = true;
  }

  async kill(): Promise<void> {
    this.#stop.abort();
    await this.#processes.kill();
  }

  async redact(text: string): Promise<string> {
    return this.#references.redact(text);
  }
}

/** The programs that a leg started and that still run. */
class LegProcesses implements Pick<Sandbox, 'spawn'> {
  readonly #sandbox: Sandbox;
  readonly #running = new Set<SandboxedProcess>();

  constructor(sandbox: Sandbox) {
    this.#sandbox = sandbox;
  }

  async spawn(command: readonly string[], options: SpawnOptions): Promise<SandboxedProcess> {
    const child = await this.#sandbox.spawn(command, options);
    this.#running.add(child);
    inBackground(child.exited.then(() => this.#running.delete(child)));
    return child;
  }

  async kill(): Promise<void> {
    await Promise.all(Array.from(this.#running, (child) => child.kill()));
  }
}
