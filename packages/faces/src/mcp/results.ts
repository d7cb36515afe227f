import type { JsonObject } from '../json.ts';
import { askedBecause } from '../approvers.ts';
import { printable } from '../printable.ts';
import type { AskItem } from '../transcript.ts';
import { aboutOf, connectLinkOf, questionText } from './forms.ts';
import type { McpRunState } from './run.ts';
import { answerTool, waitTool } from './tools.ts';
import { waitsText } from './waits.ts';

/** The result of a tool, as the Model Context Protocol has it. */
export interface McpResult {
  readonly content: readonly { readonly type: 'text'; readonly text: string }[];
  readonly structuredContent?: JsonObject;
  readonly isError?: true;
}

/** The result of a call. `link` leads to the run in the console, where there is one. */
export function resultOf(state: McpRunState, link: string | undefined): McpResult {
  const { runId, text, asks, waits, outcome } = state;
  switch (outcome?.status) {
    case 'completed':
      return runResult(state, { status: 'completed', said: text });
    case 'failed': {
      const said = `The run failed: ${outcome.problem}`;
      return { ...runResult(state, { status: 'failed', said }), isError: true };
    }
    case 'cancelled':
      return {
        ...runResult(state, { status: 'cancelled', said: 'The run was cancelled.' }),
        isError: true,
      };
    case undefined: {
      if (asks.length > 0) return waitingResult(state, link);
      const advice = `Call ${waitTool} with the run_id ${runId} to wait for it.`;
      const said = ['The run has not ended.', waitsText(waits), advice].filter(
        (part) => part !== '',
      );
      return runResult(state, { status: 'running', said: `${text}\n\n${said.join(' ')}`.trim() });
    }
    default:
      return outcome satisfies never;
  }
}

/** D-220: a question goes to the user through the model; a permission does not. */
function waitingResult(state: McpRunState, link: string | undefined): McpResult {
  const said = state.asks.map((ask) => waitingFor(ask, state.runId, link));
  const whole = [state.text, ...said].filter((part) => part.trim() !== '').join('\n\n');
  return runResult(state, { status: 'waiting', said: whole });
}

function waitingFor(ask: AskItem, runId: string, link: string | undefined): string {
  const place = link === undefined ? 'where they answer agents' : `at ${link}`;
  const then = `Tell the user to decide ${place}, then call ${waitTool} with the run_id ${runId}.`;
  if (ask.about === 'permission') {
    const because = askedBecause(ask);
    const why = because === '' ? '' : `${because} `;
    return `The agent waits for a person's permission to run ${printable(ask.name)}. ${why}You cannot give it. ${then}`;
  }
  const connectLink = connectLinkOf(ask);
  if (connectLink !== undefined) {
    return `${connectLink.message}\nGive the user this link. When the account is connected, call ${waitTool} with the run_id ${runId}: the run continues automatically.`;
  }
  if (aboutOf(ask) !== undefined) {
    return `${questionText(ask)}\nOnly a person can answer this. ${then}`;
  }
  const advice = `Ask the user, and pass the answer to ${answerTool} with the run_id ${runId}.`;
  return `The agent asks:\n${questionText(ask)}\n${advice}`;
}

interface StatusText {
  readonly status: string;
  /** The text that the model reads. */
  readonly said: string;
}

function runResult(state: McpRunState, { status, said }: StatusText): McpResult {
  const { sessionId, runId, text, output } = state;
  // Not every client shows structured content to the model.
  const ids = `session_id: ${sessionId}, run_id: ${runId}, status: ${status}`;
  const returned = output === undefined ? [] : [JSON.stringify(output, null, 2)];
  return {
    content: [said, ...returned, ids].map((each) => ({ type: 'text', text: each })),
    structuredContent: {
      session_id: sessionId,
      run_id: runId,
      status,
      text,
      ...(output !== undefined && { output }),
    },
  };
}

/** Any failure is a result, so that the model can explain it, or try another way. */
export function errorResult(message: string): McpResult {
  return { content: [{ type: 'text', text: message }], isError: true };
}
