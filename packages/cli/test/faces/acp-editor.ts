// An editor for `convoke acp`: the client of the protocol's own SDK.
import { spawn } from 'node:child_process';
import { Readable, Writable } from 'node:stream';
import {
  type ClientContext,
  type CreateElicitationRequest,
  type CreateElicitationResponse,
  PROTOCOL_VERSION,
  type PromptResponse,
  type RequestPermissionOutcome,
  type RequestPermissionRequest,
  type SessionUpdate,
  client,
  ndJsonStream,
} from '@agentclientprotocol/sdk';

export interface Program {
  readonly command: string;
  readonly args: string[];
  readonly env: Record<string, string>;
  readonly cwd: string;
}

type Shown = { readonly signal: AbortSignal };

export interface Person {
  /** What they select in a dialog; the dialog is closed if it is nothing. */
  readonly choose?: (
    asked: RequestPermissionRequest,
    shown: Shown,
  ) => string | undefined | Promise<string | undefined>;
  /** What they fill in; without it the editor has no forms. */
  readonly fill?: (
    form: CreateElicitationRequest,
    shown: Shown,
  ) => CreateElicitationResponse | Promise<CreateElicitationResponse>;
}

export interface Editor {
  readonly agent: ClientContext;
  readonly updates: SessionUpdate[];
  newSession(): Promise<string>;
  prompt(sessionId: string, text: string): Promise<PromptResponse>;
  /** The agent's words so far. */
  text(): string;
  close(): void;
}

export async function openEditor(
  { command, args, env, cwd }: Program,
  { choose, fill }: Person,
): Promise<Editor> {
  const child = spawn(command, args, { env, cwd, stdio: ['pipe', 'pipe', 'inherit'] });
  const updates: SessionUpdate[] = [];
  const app = client({ name: 'test-editor' })
    .onNotification('session/update', ({ params }) => void updates.push(params.update))
    .onRequest('session/request_permission', async ({ params, signal }) => {
      const optionId = await choose?.(params, { signal });
      const outcome: RequestPermissionOutcome =
        optionId === undefined ? { outcome: 'cancelled' } : { outcome: 'selected', optionId };
      return { outcome };
    });
  if (fill !== undefined) {
    app.onRequest('elicitation/create', ({ params, signal }) => fill(params, { signal }));
  }
  const stream = ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout));
  const connection = app.connect(stream);
  const { agent } = connection;
  await agent.request('initialize', {
    protocolVersion: PROTOCOL_VERSION,
    clientCapabilities: fill === undefined ? {} : { elicitation: { form: {} } },
  });
  return {
    agent,
    updates,
    async newSession() {
      return (await agent.request('session/new', { cwd, mcpServers: [] })).sessionId;
    },
    prompt: (sessionId, text) =>
      agent.request('session/prompt', { sessionId, prompt: [{ type: 'text', text }] }),
    text: () => updates.map(chunkOf).join(''),
    close() {
      connection.close();
      child.kill();
    },
  };
}

function chunkOf(update: SessionUpdate): string {
  if (update.sessionUpdate !== 'agent_message_chunk') return '';
  return update.content.type === 'text' ? update.content.text : '';
}
