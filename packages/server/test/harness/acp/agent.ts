// An ACP agent that executes the actions of its prompt, on the agent side of the protocol's own SDK: for behaviour that
// no real agent shows on demand. Run as a program: node agent.ts [--load] [--forgetful] [--locked] [--mute] [--fussy]
import { spawn } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import {
  type AgentContext,
  type PermissionOption,
  RequestError,
  type SessionUpdate,
  type StopReason,
  type ToolKind,
  agent,
  ndJsonStream,
} from '@agentclientprotocol/sdk';

/** One action; a prompt is a JSON list of them. */
export type Step =
  | { say: string }
  | { think: string }
  | { plan: string }
  /** Asks for permission, and if allowed writes `call` into a file of that name. */
  | { call: string; kind?: ToolKind; options?: PermissionOption[]; input?: object; text?: string }
  /** Does the same without asking. */
  | { sneak: string; kind?: ToolKind }
  /** Reports a call, and waits for a file of that name before it completes it. A cancel cuts it off. */
  | { busy: string }
  /** Asks for permission to edit, and if allowed writes the file. */
  | { write: { path: string; text: string } }
  | { elicit: string; properties: Record<string, object> }
  | { sayAnswer: true }
  | { report: Reportable }
  /** Tells what the session has cost so far, and at the end of the turn its tokens. */
  | { cost: { amount: number; currency: string }; tokens?: number }
  | { fail: { code: number; message: string; data?: unknown } }
  | { stop: StopReason }
  | { flood: number }
  /** Starts a process that would outlive the agent, and prints its pid. */
  | { child: true }
  | { crash: number }
  /** Waits that many milliseconds, or until it is cancelled. */
  | { wait: number }
  /** Waits until it is cancelled; `deaf` ignores the cancel. */
  | { hang: 'listening' | 'deaf' };

type Reportable = 'history' | 'env' | 'home' | 'cwd' | 'mode' | 'born' | 'reversed token';

const born = String(process.hrtime.bigint());
const flags = new Set(process.argv.slice(2));
const folder = join(homedir(), 'acp-sessions');
let cancelled = () => {};
let isCancelled = false;
let mode = 'lax';
let lastAnswer = '';
let tokens: number | undefined;
const usual: PermissionOption[] = [
  { optionId: 'yes-forever', name: 'Always', kind: 'allow_always' },
  { optionId: 'yes-once', name: 'Once', kind: 'allow_once' },
  { optionId: 'no', name: 'No', kind: 'reject_once' },
];
const modes = {
  currentModeId: 'lax',
  availableModes: ['lax', 'strict'].map((id) => ({ id, name: id })),
};
const forever = () => new Promise<never>(() => {});

agent({ name: 'test-agent' })
  .onRequest('initialize', () =>
    flags.has('--mute')
      ? forever()
      : {
          protocolVersion: 1,
          authMethods: [{ id: 'passphrase', name: 'Passphrase' }],
          agentCapabilities: {
            loadSession: flags.has('--load'),
            sessionCapabilities:
              flags.has('--load') || flags.has('--forgetful') ? {} : { resume: {} },
          },
        },
  )
  .onRequest('authenticate', ({ params }) => {
    if (params.methodId !== 'passphrase') throw RequestError.authRequired();
    flags.delete('--locked');
  })
  .onRequest('session/new', () => {
    if (flags.has('--locked')) throw RequestError.authRequired();
    const sessionId = `session-${process.pid}-${Date.now()}`;
    save(sessionId, []);
    return { sessionId, modes };
  })
  .onRequest('session/resume', ({ params }) => {
    history(params.sessionId);
    return { modes };
  })
  .onRequest('session/load', ({ params, client }) => {
    // As some agents do: the history is replayed after the response.
    const texts = history(params.sessionId);
    setTimeout(() => {
      for (const text of texts) {
        void update(client, params.sessionId, chunk('user_message_chunk', text));
        void update(client, params.sessionId, chunk('agent_message_chunk', `replayed ${text}`));
      }
    }, 50);
    return {};
  })
  .onRequest('session/set_mode', ({ params }) => {
    mode = params.modeId;
  })
  .onNotification('session/cancel', () => {
    isCancelled = true;
    cancelled();
  })
  .onRequest('session/prompt', async ({ params, client }) => {
    const texts = params.prompt.map((block) => (block.type === 'text' ? block.text : ''));
    save(params.sessionId, [...history(params.sessionId), ...texts]);
    isCancelled = false;
    tokens = undefined;
    const last = texts.at(-1) ?? '[]';
    const steps: Step[] = last.startsWith('[') ? JSON.parse(last) : taskIn(last);
    for (const step of steps) {
      const stopped = await play(step, { client, sessionId: params.sessionId });
      if (stopped !== undefined) return { stopReason: stopped };
      if (isCancelled && !steps.some((each) => 'fail' in each)) return { stopReason: 'cancelled' };
    }
    const usage = tokens === undefined ? {} : { inputTokens: tokens, outputTokens: 1 };
    return { stopReason: 'end_turn', ...(tokens === undefined ? {} : { usage }) };
  })
  .connect(ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)));

/** A prompt in words is repeated, and the task in it carried out: without the calls that it says were made. */
function taskIn(prompt: string): Step[] {
  const [told = '', task = '[]'] = prompt.split('The task was:\n');
  const known = told
    .split('\n\n')
    .filter((section) => !/^These actions were not|^A person allowed/.test(section))
    .flatMap((section) => section.split('\n').slice(1));
  const isMade = (step: Step) =>
    'call' in step && known.some((line) => line.startsWith(`- ${step.call}`));
  const steps: Step[] = JSON.parse(task);
  return [{ say: prompt }, ...steps.filter((step) => !isMade(step))];
}

interface Place {
  readonly client: AgentContext;
  readonly sessionId: string;
}

async function play(step: Step, { client, sessionId }: Place): Promise<StopReason | undefined> {
  const say = (text: string) => update(client, sessionId, chunk('agent_message_chunk', text));
  if ('say' in step) await say(step.say);
  else if ('think' in step) {
    await update(client, sessionId, chunk('agent_thought_chunk', step.think));
  } else if ('plan' in step) {
    const entry = { content: step.plan, priority: 'high', status: 'pending' } as const;
    await update(client, sessionId, { sessionUpdate: 'plan', entries: [entry] });
  } else if ('call' in step) return call(step, { client, sessionId });
  else if ('write' in step) {
    const { path, text } = step.write;
    return call({ call: path, kind: 'edit', input: step.write, text }, { client, sessionId });
  } else if ('sneak' in step) {
    writeFileSync(step.sneak, step.sneak);
    await sendCall(step.sneak, step.kind ?? 'execute', { client, sessionId, status: 'completed' });
  } else if ('busy' in step) {
    await sendCall(step.busy, 'execute', { client, sessionId, status: 'in_progress' });
    while (!existsSync(step.busy) && !isCancelled) {
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    const status = isCancelled ? 'failed' : 'completed';
    await sendCall(step.busy, 'execute', { client, sessionId, status });
  } else if ('elicit' in step) {
    const answer = await client.request('elicitation/create', {
      sessionId,
      mode: 'form',
      message: step.elicit,
      requestedSchema: { type: 'object', properties: step.properties as never },
    });
    lastAnswer = JSON.stringify(answer);
    await say(lastAnswer);
  } else if ('cost' in step) {
    const { cost } = step;
    tokens = step.tokens;
    await update(client, sessionId, { sessionUpdate: 'usage_update', used: 1, size: 2, cost });
  } else if ('sayAnswer' in step) await say(`You said ${lastAnswer}`);
  else if ('report' in step) await say(reportedValue(step.report, sessionId));
  else if ('fail' in step) {
    throw new RequestError(step.fail.code, step.fail.message, step.fail.data);
  } else if ('stop' in step) return step.stop;
  else if ('flood' in step) {
    for (let number = 0; number < step.flood; number += 1) await say(`${number} `);
  } else if ('wait' in step) {
    await new Promise<void>((resolve) => {
      cancelled = resolve;
      setTimeout(resolve, step.wait);
    });
  } else if ('child' in step) {
    const child = spawn('sleep', ['1000.5'], { detached: true, stdio: 'ignore' });
    await say(String(child.pid));
  } else if ('crash' in step) {
    process.stderr.write('\u001b[31mout of ideas\u001b[0m\n', () => process.exit(step.crash));
    await forever();
  } else if (step.hang === 'deaf') await forever();
  else await new Promise<void>((resolve) => (cancelled = resolve));
  return undefined;
}

async function call(
  step: Extract<Step, { call: string }>,
  place: Place,
): Promise<StopReason | undefined> {
  const { call: title, kind = 'execute', options = usual, input, text } = step;
  const { client, sessionId } = place;
  // The kind is sent with the call, and not again with the permission request.
  await sendCall(title, kind, { ...place, status: 'in_progress' });
  const { outcome } = await client.request('session/request_permission', {
    sessionId,
    toolCall: { toolCallId: title, title, rawInput: input ?? { command: title } },
    options,
  });
  if (outcome.outcome === 'cancelled') return isCancelled ? 'cancelled' : 'end_turn';
  const isAllowed = outcome.optionId.startsWith('yes');
  mkdirSync(dirname(title), { recursive: true });
  if (isAllowed) appendFileSync(title, text ?? outcome.optionId);
  const status = isAllowed ? 'completed' : 'failed';
  await sendCall(title, kind, { ...place, status });
  // As some agents do: a refusal ends the turn as if it had been cancelled.
  return isAllowed || !flags.has('--fussy') ? undefined : 'cancelled';
}

function sendCall(
  title: string,
  kind: ToolKind,
  { client, sessionId, status }: Place & { status: 'in_progress' | 'completed' | 'failed' },
): Promise<void> {
  return update(client, sessionId, {
    sessionUpdate: 'tool_call',
    toolCallId: title,
    title,
    kind,
    status,
  });
}

function reportedValue(what: Reportable, sessionId: string): string {
  if (what === 'history') return JSON.stringify(history(sessionId).slice(0, -1));
  if (what === 'env') return JSON.stringify(process.env);
  if (what === 'home') return homedir();
  if (what === 'born') return born;
  if (what === 'reversed token') return (process.env['TOKEN'] ?? '').split('').reverse().join('');
  return what === 'mode' ? mode : process.cwd();
}

function chunk(
  sessionUpdate: 'agent_message_chunk' | 'agent_thought_chunk' | 'user_message_chunk',
  text: string,
): SessionUpdate {
  return { sessionUpdate, content: { type: 'text', text } };
}

function update(client: AgentContext, sessionId: string, change: SessionUpdate): Promise<void> {
  return client.notify('session/update', { sessionId, update: change });
}

function history(sessionId: string): string[] {
  try {
    return JSON.parse(readFileSync(join(folder, sessionId), 'utf8'));
  } catch {
    throw RequestError.resourceNotFound(sessionId);
  }
}

function save(sessionId: string, texts: readonly string[]): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, sessionId), JSON.stringify(texts));
}
