import { ConvokeError, type InteractionRecord, type RunRecord } from '@convoke/sdk';
import type { CallToolResult } from '@modelcontextprotocol/server';
import { printable } from '../../terminal/output.ts';
import { questionText } from './forms.ts';
import { answerTool, waitTool } from './tools.ts';

/** The state of a run. */
export interface RunState {
  readonly record: RunRecord;
  /** The answer so far. */
  readonly text: string;
  /** What it waits for, the oldest first. */
  readonly asks: readonly InteractionRecord[];
}

/** The result of a call whose run has ended or continues; of one that waits, `waitingResult`. */
export function runResult({ record, text }: RunState): CallToolResult {
  const { id, status, output_text = text, error_message, error_code } = record;
  switch (status) {
    case 'completed':
      return resultOf(record, { status, text: output_text, said: output_text });
    case 'failed': {
      const said = `The run failed: ${error_message} (${error_code})`;
      return { ...resultOf(record, { status, text: output_text, said }), isError: true };
    }
    case 'cancelled': {
      const said = 'The run was cancelled.';
      return { ...resultOf(record, { status, text: output_text, said }), isError: true };
    }
    case 'queued':
    case 'running':
    case 'waiting':
    case 'cancelling': {
      const said = `The run has not ended. Call ${waitTool} with the run_id ${id} to wait for it.`;
      return resultOf(record, { status: 'running', text, said: `${text}\n\n${said}`.trim() });
    }
  }
}

/** D-220: a question goes to the user through the model; a permission does not. `link` leads to the run in the console. */
export function waitingResult({ record, text, asks }: RunState, link: string): CallToolResult {
  const said = asks.map((ask) => waitingFor(ask, record.id, link));
  const whole = [text, ...said].filter((part) => part.trim() !== '').join('\n\n');
  return resultOf(record, { status: 'waiting', text, said: whole });
}

function waitingFor(ask: InteractionRecord, runId: string, link: string): string {
  const { kind, about, tool_name = about?.tool_name ?? 'a tool' } = ask;
  const then = `Tell the user to decide at ${link}, then call ${waitTool} with the run_id ${runId}.`;
  if (kind === 'permission') {
    return `The agent waits for a person's permission to run ${printable(tool_name)}. You cannot give it. ${then}`;
  }
  if (about !== undefined) return `${questionText(ask)}\nOnly a person can answer this. ${then}`;
  const advice = `Ask the user, and pass the answer to ${answerTool} with the run_id ${runId}.`;
  return `The agent asks:\n${questionText(ask)}\n${advice}`;
}

interface Said {
  readonly status: string;
  readonly text: string;
  /** What the model reads. */
  readonly said: string;
}

function resultOf(
  { id, session_id, output }: RunRecord,
  { status, text, said }: Said,
): CallToolResult {
  // Not every client shows the model what is structured.
  const ids = `session_id: ${session_id}, run_id: ${id}, status: ${status}`;
  const returned = output === undefined ? [] : [JSON.stringify(output, null, 2)];
  return {
    content: [said, ...returned, ids].map((each) => ({ type: 'text', text: each })),
    structuredContent: {
      session_id,
      run_id: id,
      status,
      text,
      ...(output !== undefined && { output }),
    },
  };
}

/** Any failure is a result, so that the model can say what is wrong, or do it differently. */
export function errorResult(error: unknown, runId?: string): CallToolResult {
  const message = error instanceof Error ? error.message : String(error);
  const code = error instanceof ConvokeError ? ` (${error.code})` : '';
  const advice =
    runId === undefined ? '' : `\nThe run ${runId} continues: call ${waitTool} to see its outcome.`;
  return { content: [{ type: 'text', text: `${message}${code}${advice}` }], isError: true };
}
