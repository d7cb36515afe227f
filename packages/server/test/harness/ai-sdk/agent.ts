import { randomUUID } from 'node:crypto';
import { sessionId, tenantId } from '@convoke/contract';
import type { Agent } from '../../../src/domain/agent.ts';
import type { JsonObject } from '../../../src/domain/json.ts';
import { aiSdkHarness } from '../../../src/harness/ai-sdk/harness.ts';
import type { AiSdkParts } from '../../../src/harness/ai-sdk/parts.ts';
import type { Answer, Harness } from '../../../src/ports/harness.ts';
import type { Sandbox } from '../../../src/ports/sandbox.ts';
import { openSessionFolders } from '../../../src/session-folders/session-folders.ts';
import { agentOf, recordingLog } from '../../support/agent-folders.ts';
import { type ModelServer, startModelServer } from '../../support/model-server/server.ts';
import { SandboxPlace, Sitting } from '../sittings.ts';

/** One provider of each wire format, with the path of its address. */
export const dialects = {
  'openai-compatible': { model: 'openai-compatible/scripted', path: '/v1' },
  openai: { model: 'openai/gpt-scripted', path: '/v1' },
  anthropic: { model: 'anthropic/claude-scripted', path: '/v1' },
  google: { model: 'google/gemini-scripted', path: '/v1beta' },
} as const;
export type Dialect = keyof typeof dialects;

export interface AiSdkAgent extends Partial<Omit<Agent, 'settings'>> {
  readonly dialect?: Dialect;
  readonly settings?: JsonObject;
}

/** The scripted model, a real sandbox, and sessions with agents that use both. */
export class AiSdkPlace {
  readonly modelServer: ModelServer;
  readonly #place: SandboxPlace;

  constructor(modelServer: ModelServer, place: SandboxPlace) {
    this.modelServer = modelServer;
    this.#place = place;
  }

  static async open(): Promise<AiSdkPlace> {
    return new AiSdkPlace(await startModelServer(), await SandboxPlace.open());
  }

  get account() {
    return this.#place.sandbox.account;
  }

  /** The sandbox, and every program started in it with whether it has exited. */
  watchedSandbox(): { sandbox: Sandbox; started: { hasExited: boolean }[] } {
    const { sandbox } = this.#place;
    const started: { hasExited: boolean }[] = [];
    const spawn: Sandbox['spawn'] = async (command, options) => {
      const child = await sandbox.spawn(command, options);
      const program = { hasExited: false };
      started.push(program);
      void child.exited.then(() => {
        program.hasExited = true;
      });
      return child;
    };
    const { account, folder } = sandbox;
    const describe = () => sandbox.describe();
    const keepAlive = (ms: number) => sandbox.keepAlive(ms);
    const close = async () => {};
    return { sandbox: { account, folder, describe, spawn, keepAlive, close }, started };
  }

  agent({ dialect = 'openai-compatible', settings = {}, ...rest }: AiSdkAgent = {}): Agent {
    const { model, path } = dialects[dialect];
    const env = { API_KEY: 'a-key-for-tests', BASE_URL: this.modelServer.url + path };
    const { folder } = this.#place;
    return agentOf({ framework: 'ai-sdk', model, folder, ...rest, settings: { env, ...settings } });
  }

  harness(parts: Partial<AiSdkParts> = {}): Harness {
    return aiSdkHarness({ sandbox: this.#place.sandbox, retries: 0, ...parts });
  }

  /** A new session with an agent, its folder prepared as the service does it. */
  async session(agent: Agent, parts: Partial<AiSdkParts> = {}): Promise<AiSdkSession> {
    const { folder: dataDir } = this.#place;
    const name = randomUUID().slice(0, 8);
    const prepared = await openSessionFolders({
      dataDir,
      log: recordingLog(),
      account: this.account,
    }).prepare({
      tenantId: tenantId('ten_1'),
      sessionId: sessionId(`sess_${name}`),
      agent,
      expected: false,
      files: [],
    });
    if (!prepared.found) throw new Error('the workspace is lost');
    return new AiSdkSession(this.harness(parts), { name, agent, ...prepared });
  }

  async close(): Promise<void> {
    await this.#place.close();
    await this.modelServer.close();
  }
}

export class AiSdkSession extends Sitting {
  readonly sessionFolder: string;

  constructor(harness: Harness, place: ConstructorParameters<typeof Sitting>[1]) {
    super(harness, place);
    this.sessionFolder = place.sessionFolder;
  }

  /** A run whose prompt tells the model what to do. */
  play(script: string) {
    return this.say(`Please. @@ ${script}`);
  }

  resume(answers: Readonly<Record<string, Answer>>) {
    return this.hear(this.start('', new Map(Object.entries(answers))));
  }
}
