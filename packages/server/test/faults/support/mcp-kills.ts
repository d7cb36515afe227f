import { expect } from 'vitest';
import type { CallResult, Filled, ShownForm } from '../../http/faces/mcp-clients.ts';
import type { Caller } from './caller.ts';

/** What assistants call while servers are killed: it asks a question and for a permission. */
export const askingAgents = {
  both: {
    approval_required_tools: ['write_*'],
    script: [
      { ask: { question: 'Which colour?', options: ['red', 'blue'] } },
      { tool: { name: 'write_file', input: { path: 'note.txt', text: '{{answer}}' } } },
      { say: 'It is {{answer}}.' },
    ],
  },
};

/** A person who says blue and allows, and the forms that they were shown. */
export function blueAndAllow() {
  const shown: string[] = [];
  const fill = ({ message, requestedSchema }: Pick<ShownForm, 'message' | 'requestedSchema'>) => {
    shown.push(message);
    const isPermission = 'decision' in requestedSchema.properties;
    const content = isPermission ? { decision: 'allow' } : { answer: 'blue' };
    return { action: 'accept', content: content as Record<string, string> } satisfies Filled;
  };
  return { shown, fill };
}

/** The runs of the tenant: a call that is made twice is a run of another session. */
export async function runsOfTenant(caller: Caller): Promise<number> {
  const { runs } = (await caller.call('GET', '/v1/runs?limit=100')).body as {
    readonly runs: readonly object[];
  };
  return runs.length;
}

export interface Outcome {
  readonly result: CallResult;
  readonly shown: readonly string[];
  /** How many the tenant had before the call. */
  readonly runsBefore: number;
}

/** The call ended as if no server had died: it is one run, and each request was answered once. */
export async function expectOneRun(
  caller: Caller,
  at: string,
  { result, shown, runsBefore }: Outcome,
): Promise<void> {
  expect([at, result.structuredContent]).toMatchObject([
    at,
    { status: 'completed', text: 'It is blue.' },
  ]);
  expect([at, new Set(shown).size]).toEqual([at, 2]);
  const sessionId = result.structuredContent?.['session_id'] ?? '';
  const answered = await caller.interactions(sessionId, 'answered');
  const runs = (await runsOfTenant(caller)) - runsBefore;
  expect([at, runs, answered.length]).toEqual([at, 1, 2]);
}
