import { execFile } from 'node:child_process';
import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { root } from '../../../../test/repository.ts';
import { startModelServer } from '../support/model-server/server.ts';
import { type PackageSet, installedPackages } from '../harness/installed-agent.ts';

const programs = fileURLToPath(new URL('programs', import.meta.url));

/** What one scenario of a program did. */
export interface Played {
  readonly text: string;
  readonly calls: readonly string[];
  readonly asked: readonly string[];
  readonly outcome: string;
  readonly message?: string;
  readonly tokens: number;
  readonly state: string;
  /** The virtual seconds that the undisturbed run waited, and how many runs it started. */
  readonly elapsed: number;
  readonly started: number;
  /** The effects of all runs, each named once. */
  readonly done: readonly string[];
  /** How many runs were killed or handed over, each at another message. */
  readonly disturbed: number;
}

/** The frameworks as they were tested, with packages that npm would not choose on its own. */
const frameworks = {
  'openai-agents': {
    name: 'openai-agents-0.20.0',
    dependencies: { '@openai/agents': '0.20.0', zod: '4.6.7' },
  },
  langgraph: {
    name: 'langgraph-1.4.18',
    dependencies: {
      '@langchain/core': '1.2.13',
      '@langchain/langgraph': '1.4.18',
      '@langchain/langgraph-checkpoint': '1.1.5',
      '@langchain/openai': '1.6.0',
      langchain: '1.5.14',
      zod: '4.6.7',
    },
    overrides: { '@langchain/langgraph': '1.4.18', '@langchain/langgraph-sdk': '1.12.3' },
  },
  mastra: {
    name: 'mastra-1.71.0',
    dependencies: { '@ai-sdk/openai': '4.0.115', '@mastra/core': '1.71.0', zod: '4.6.7' },
  },
} satisfies Record<string, PackageSet>;

export type Framework = keyof typeof frameworks;

/** The folder in which the packages of a framework are installed. */
export function installedFramework(framework: Framework): Promise<string> {
  return installedPackages(frameworks[framework]);
}

/** Runs a program of `programs` with the framework that it imports, against the model server. */
export async function play(framework: Framework): Promise<Readonly<Record<string, Played>>> {
  const said = await runWith(framework, () => join(programs, `${framework}.ts`));
  return said as Readonly<Record<string, Played>>;
}

/** Rehearses the agent of that name in docs/guides/agent-frameworks.md with a prompt. */
export function rehearseGuide(framework: Framework, agent: string, prompt: string) {
  return runWith(framework, async (folder) => {
    const guide = await readFile(join(root, 'docs/guides/agent-frameworks.md'), 'utf8');
    const fence = new RegExp(`^\`\`\`ts agents/${agent}/agent.ts\\n([\\s\\S]*?)^\`\`\``, 'm');
    const place = await mkdtemp(join(folder, `${agent}-`));
    await writeFile(join(place, 'agent.ts'), fence.exec(guide)?.[1] ?? '');
    const program = join(place, 'rehearsal.ts');
    await writeFile(program, rehearsalOf(prompt));
    return program;
  }) as Promise<Pick<Played, 'text' | 'asked'>>;
}

function rehearsalOf(prompt: string): string {
  return `import { rehearse } from '@convoke/agent/test';
import agent from './agent.ts';

const { text, asked } = await rehearse(agent, { prompt: ${JSON.stringify(prompt)} });
console.log(JSON.stringify({ text, asked: asked.map(({ kind }) => kind) }));
process.exit();
`;
}

/** Runs a program in a process that resolves the framework from where it is installed, and parses what it prints. */
async function runWith(
  framework: Framework,
  programIn: (folder: string) => string | Promise<string>,
): Promise<unknown> {
  const folder = await installedPackages(frameworks[framework]);
  const server = await startModelServer();
  try {
    const preload = join(programs, 'resolve-framework.mjs');
    const args = ['--import', preload, await programIn(folder)];
    const { stdout } = await promisify(execFile)(process.execPath, args, {
      maxBuffer: 64 * 1024 * 1024,
      env: {
        PATH: process.env['PATH'],
        FRAMEWORK_FOLDER: folder,
        OPENAI_API_KEY: 'key',
        OPENAI_BASE_URL: `${server.url}/v1`,
      },
    });
    return JSON.parse(stdout) as unknown;
  } finally {
    await server.close();
  }
}

/** What every framework does with the prompt `work`. */
export const worked = {
  text: '[whole][whole][whole]tool said: late',
  asked: ['permission', 'permission', 'question'],
  outcome: 'completed',
  done: ['look a', 'look b', 'refund 9'],
} as const;

/** A model that sleeps and calls agents of the server. */
export const calledAs = {
  text: '[whole]tool said: oak | model_error: It is down.',
  outcome: 'completed',
  asked: [],
  started: 2,
} as const;

/** The calls of the prompt `ruled`. */
export const ruledAs = {
  text: 'tool said: {"receipt":"R-4"} | Not allowed by the rule five of the agent. | {"receipt":"R-9"} | not this one',
  asked: ['permission', 'permission'],
  done: ['refund 4', 'refund 9'],
} as const;
