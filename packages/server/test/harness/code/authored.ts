import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Agent } from '../../../src/domain/agent.ts';
import { type ReadAgent, readAgentFolder } from '../../../src/agents/agent-folder.ts';
import { temporaryFolder } from '../../support/agent-folders.ts';
import { type PlayMore, type Played, playProgram } from '../stdio/leg.ts';
import { openCode } from './open-code.ts';

export type Files = Readonly<Record<string, string>>;

export interface Authored {
  /** Reads an agent as the server does, with these files beside its agent.yaml. Programs are executable. */
  read(files: Files): Promise<ReadAgent>;
  /**
   * Runs one leg of the agent whose function has this body. It is not read before, which would start a process more.
   */
  play(language: Language, body: string, more?: PlayMore & { files?: Files }): Promise<Played>;
  playAgent(agent: Agent, more?: PlayMore): Promise<Played>;
  /** What programs printed, as `convoke dev` shows it. */
  readonly shown: readonly string[];
  close(): Promise<void>;
}

/** The real sandbox for agents whose files a test writes. */
export async function openAuthored(): Promise<Authored> {
  const shown: string[] = [];
  const code = await openCode((agent, line) => shown.push(`${agent} | ${line}`));
  const harnesses = new Map([['code', code.harness]]);
  const write = async (files: Files) => {
    const folder = join(await temporaryFolder(), 'refunds');
    for (const [path, text] of Object.entries({ 'agent.yaml': 'framework: code\n', ...files })) {
      await mkdir(dirname(join(folder, path)), { recursive: true, mode: 0o755 });
      await writeFile(join(folder, path), text, { mode: text.startsWith('#!') ? 0o755 : 0o644 });
    }
    await chmod(folder, 0o755);
    return folder;
  };
  const read = async (files: Files) =>
    readAgentFolder({ folder: await write(files), name: 'refunds', harnesses });
  const readOnce = new Map<Language, Promise<ReadAgent>>();
  return {
    read,
    async play(language, body, { files = {}, ...more } = {}) {
      const known = readOnce.get(language) ?? read(agentOf(language, 'return'));
      readOnce.set(language, known);
      const result = await known;
      if (!result.ok) throw new Error(result.reason);
      const folder = await write({ ...agentOf(language, body), ...files });
      return playProgram(code, { ...result.agent, folder }, more);
    },
    playAgent: (agent, more) => playProgram(code, agent, more),
    shown,
    close: () => code.close(),
  };
}

/** Where an agent in one language is written, and the source of one whose function has this body. */
export interface Language {
  readonly file: 'agent.ts' | 'agent.py';
  sourceOf(body: string): string;
}

export const typescript: Language = {
  file: 'agent.ts',
  sourceOf: (body) =>
    `import { agent } from '@convoke/agent';\nexport default agent(async (ctx) => {\n${body}\n});\n`,
};

export const python: Language = { file: 'agent.py', sourceOf: (body) => inPython('def', body) };

/** An agent in Python that is a coroutine. */
export const asyncio: Language = {
  file: 'agent.py',
  sourceOf: (body) => inPython('async def', body),
};

function inPython(keyword: string, body: string): string {
  const lines = body.replaceAll(/^/gm, '    ');
  return `from convoke_agent import agent\n\n@agent\n${keyword} main(ctx):\n${lines}\n`;
}

export const agentOf = (language: Language, body: string): Files => ({
  [language.file]: language.sourceOf(body),
});
