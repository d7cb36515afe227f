import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Convoke } from '@convoke/sdk';
import { afterAll, beforeAll, vi } from 'vitest';
import { type DevServer, startDevServer } from '../../../../test/dev-server.ts';
import { requireSandbox } from '../../../../test/services.ts';
import { writeAgents } from '../agent-programs.ts';
import {
  type CommandLine,
  createCommandLine,
  mainPath,
  manyProcessesMs,
  ownEnvironment,
} from '../command-line.ts';

const agents: Readonly<Record<string, string>> = {
  lasting:
    'framework: scripted\nscript: [{ repeat: { times: 10000, steps: [{ say: "tick " }, { sleep_ms: 50 }] } }]\n',
  typed: `framework: scripted
input_schema:
  type: object
  properties: { ticket: { $ref: "#/$defs/number" }, session_id: { type: string } }
  required: [ticket]
  $defs: { number: { type: integer } }
output_schema:
  type: object
  properties: { team: { $ref: "#/$defs/team" } }
  required: [team]
  $defs: { team: { enum: [billing, tech] } }
script: [{ say: "Read {{input.ticket}}." }, { output: { team: tech } }]
`,
  careful: `framework: scripted
rules:
  - { name: owners, tools: [append_file], effect: ask, reason: It is public then., approvers: { role: owner } }
  - { name: notes, tools: [write_file], effect: ask, remember: exact }
script:
  - tool: { name: write_file, input: { path: note.txt, text: "1" } }
  - tool: { name: write_file, input: { path: note.txt, text: "1" } }
  - say: "Written twice."
  - tool: { name: append_file, input: { path: note.txt, text: "2" } }
`,
  dozing: `framework: scripted
script: [{ say: "Hm. " }, { receive: { name: go, timeout: 2d } }, { say: "Got {{answer}}." }]
`,
  patient:
    'framework: scripted\nscript: [{ ask: { question: "Which colour?" } }, { say: "It is {{answer}}." }]\n',
};

/** A server with agents that last, ask and pay, and the saved login of a person who starts clients against it. */
export interface FaceServer {
  readonly server: DevServer;
  readonly settings: CommandLine;
  readonly convoke: Convoke;
  /** How a client starts `convoke acp` or `convoke mcp`. */
  program(...words: string[]): FaceProgram;
  /** Kills the server with SIGKILL, and starts it again on its data. */
  killAndRestart(): Promise<void>;
}

interface FaceProgram {
  readonly command: string;
  readonly args: string[];
  readonly env: Record<string, string>;
  readonly cwd: string;
}

/** Starts the server before the tests of the file. */
export function useFaceServer(): () => FaceServer {
  vi.setConfig({ testTimeout: manyProcessesMs, hookTimeout: manyProcessesMs });
  let world: FaceServer | undefined;
  const current = () => {
    if (world === undefined) throw new Error('the server starts before the first test');
    return world;
  };
  beforeAll(async () => {
    requireSandbox();
    const server = await startDevServer(async (place) => {
      for (const [name, script] of Object.entries(agents)) await writeAgent(place, name, script);
      await writeAgents(place, 'pays');
    });
    const settings = await createCommandLine(server.place);
    const { base_url: baseUrl = '', client_id = '', client_secret = '' } = server.quickstart;
    const convoke = new Convoke({ baseUrl, clientId: client_id, clientSecret: client_secret });
    const program = (...words: string[]) => ({
      command: process.execPath,
      args: [mainPath, ...words],
      env: ownEnvironment(settings.settings),
      cwd: server.place,
    });
    const killAndRestart = async () => {
      const { server: killed } = current();
      process.kill(killed.processId, 'SIGKILL');
      world = { ...current(), server: await killed.restart() };
    };
    world = { server, settings, convoke, program, killAndRestart };
  });
  afterAll(async () => {
    await world?.settings.remove();
    await world?.server.stop();
  });
  return current;
}

/** The framework and what it needs are in `more`. */
async function writeAgent(place: string, name: string, more: string): Promise<void> {
  const head = `schema: 1\nname: ${name}\ndescription: For a test\n`;
  await mkdir(join(place, 'agents', name));
  await writeFile(join(place, 'agents', name, 'agent.yaml'), head + more);
}
