// An agent as code whose prompt is the list of steps to take.
import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { type Context, Denied, agent } from '@convoke/agent';

interface Step {
  readonly say?: string;
  readonly write?: { readonly path: string; readonly text: string };
  readonly ask?: { readonly question: string; readonly options: readonly string[] };
  readonly sayAnswer?: true;
  readonly work?: string;
  readonly fail?: string;
  readonly remember?: string;
  readonly recall?: true;
}

interface State {
  memory?: readonly string[];
}

export default agent<State>(async (ctx) => {
  let answer = '';
  for (const step of JSON.parse(ctx.prompt) as readonly Step[]) {
    if (step.say !== undefined) ctx.say(step.say);
    if (step.ask !== undefined) answer = (await ctx.ask(step.ask.question, step.ask)) ?? '';
    if (step.sayAnswer) ctx.say(answer);
    if (step.remember !== undefined)
      ctx.state.memory = [...(ctx.state.memory ?? []), step.remember];
    if (step.recall) ctx.say(`I remember ${(ctx.state.memory ?? []).join(', ')}`);
    if (step.fail !== undefined) throw new Error(step.fail);
    if (step.write !== undefined && !(await write(ctx, step.write))) return;
    if (step.work !== undefined) await work(ctx, step.work);
  }
});

async function write(
  ctx: Context<State>,
  note: { readonly path: string; readonly text: string },
): Promise<boolean> {
  try {
    await ctx.step(
      'write_file',
      ({ input }) => {
        const { path, text } = input as typeof note;
        mkdirSync(dirname(path), { recursive: true });
        writeFileSync(path, text);
      },
      { input: note },
    );
    return true;
  } catch (error) {
    if (error instanceof Denied) return false;
    throw error;
  }
}

async function work(ctx: Context<State>, nap: string): Promise<void> {
  const worker = spawn('sleep', [nap], { stdio: 'ignore', detached: true });
  ctx.signal.addEventListener('abort', () => worker.kill());
  await new Promise((resolve) => worker.once('spawn', resolve));
  ctx.say('working');
  await new Promise((resolve) => worker.once('exit', resolve));
}
