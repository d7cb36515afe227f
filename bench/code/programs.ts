/**
 * The agents that bench/code.ts measures: each says a word first, so that no model is needed, and then takes empty
 * steps.
 */
import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { Template } from '../../packages/cli/src/commands/application/agents/template.ts';
import { aiSdk } from '../../packages/cli/src/commands/application/agents/templates/ai-sdk.ts';
import { langgraph } from '../../packages/cli/src/commands/application/agents/templates/langgraph.ts';
import { mastra } from '../../packages/cli/src/commands/application/agents/templates/mastra.ts';
import { openaiAgents } from '../../packages/cli/src/commands/application/agents/templates/openai-agents.ts';
import { root } from '../../test/repository.ts';

export interface Program {
  readonly name: string;
  readonly folder: string;
  readonly entry: string;
  /** Starts the entry outside of a sandbox. */
  readonly command: readonly [string, ...string[]];
}

const frameworks: Readonly<Record<string, Template>> = {
  'AI SDK': aiSdk,
  'OpenAI Agents': openaiAgents,
  Mastra: mastra,
  LangGraph: langgraph,
};

/** A name that no other process on the machine has in its command line. */
const entryName = `bench-${process.pid}`;
const require = createRequire(join(root, 'packages/server/package.json'));
const shell = '/bin/sh';
// Descriptor 3 leads to the server, as launch.sh has it.
const node: Program['command'] = [
  shell,
  '-c',
  'exec 3>&1 1>&2; exec "$@"',
  shell,
  process.execPath,
  require.resolve('@convoke/agent/launch'),
];
const python: Program['command'] = [shell, join(root, 'packages/agent-python/launch.sh')];
/** Nothing is asked of the model; the libraries only refuse to start without a key. */
export const modelKey = { OPENAI_API_KEY: 'unused' };

/** Writes the agents below `folder`; those of frameworks with their packages from npm. */
export async function writePrograms(folder: string, withFrameworks: boolean): Promise<Program[]> {
  const kit = { name: 'kit', files: { [`${entryName}.ts`]: typescript('') }, command: node };
  const sync = {
    name: 'Python kit',
    files: { [`${entryName}.py`]: pythonSource },
    command: python,
  };
  const others = Object.entries(withFrameworks ? frameworks : {}).map(([name, template]) => ({
    name,
    // The template's own agent is imported, and with it the framework and its adapter.
    files: {
      ...template.files('bench'),
      [`${entryName}.ts`]: typescript("import './agent.ts';\n"),
    },
    command: node,
  }));
  const programs: Program[] = [];
  for (const { name, files, command } of [kit, sync, ...others]) {
    const program = join(folder, name.toLowerCase().replaceAll(' ', '-'));
    const entry = Object.keys(files).at(-1) ?? '';
    const settings = { framework: 'code', entry, env: { OPENAI_API_KEY: '${env:OPENAI_API_KEY}' } };
    for (const [path, text] of Object.entries({
      ...files,
      'agent.yaml': JSON.stringify(settings),
    })) {
      await mkdir(dirname(join(program, path)), { recursive: true });
      await writeFile(join(program, path), text);
    }
    if ('package.json' in files) {
      const install = ['install', '--omit=dev', '--no-audit', '--no-fund'];
      await promisify(execFile)('npm', install, { cwd: program });
    }
    programs.push({ name, folder: program, entry, command });
  }
  return programs;
}

function typescript(imports: string): string {
  return `import { agent } from '@convoke/agent';
${imports}export default agent(async (ctx) => {
  ctx.say('hello');
  for (let n = 0; n < Number(ctx.prompt); n += 1) await ctx.step('nothing', () => null);
});
`;
}

const pythonSource = `from convoke_agent import agent

@agent
def bench(ctx):
    ctx.say("hello")
    for _ in range(int(ctx.prompt)):
        ctx.step("nothing", lambda: None)
`;
