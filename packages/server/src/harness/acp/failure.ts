import type { RequestError } from '@agentclientprotocol/sdk';
import { z } from 'zod';
import type { ProcessExit } from '../../ports/sandbox.ts';
import { LegFailure } from '../leg-failure.ts';

const authRequired = -32_000;
const excerptMaxCharacters = 400;
const notFound = 127;

/** The agent answered a request with an error: most often its model refused or could not be reached. */
export function requestFailure(error: RequestError, method: string): LegFailure {
  const isRefusal = true;
  const isPrompt = method === 'session/prompt';
  if (error.code === authRequired) {
    return isPrompt
      ? new LegFailure('model_error', `${keyRefused} ${reasonIn(error)}`, { isRefusal })
      : new LegFailure('agent_error', authenticationRequired, { isRefusal });
  }
  return new LegFailure(
    isPrompt ? 'model_error' : 'agent_error',
    isPrompt
      ? `The agent failed: ${reasonIn(error)}`
      : `The agent refused ${method}: ${reasonIn(error)}`,
    { isRefusal },
  );
}

const authenticationRequired =
  "The agent requires authentication: set its key in agent.yaml's env, and the method in acp.auth_method.";

/** The agent accepted a session before, so it has a key. */
const keyRefused =
  "The API key was refused: check the one that agent.yaml's env refers to. The agent said:";

export function exitFailure(exit: ProcessExit, errorOutput: string): LegFailure {
  const said = errorExcerpt(errorOutput);
  if (!exit.started) {
    return new LegFailure('sandbox_unavailable', `The sandbox could not be set up. ${said}`);
  }
  if (exit.outOfMemory) {
    return new LegFailure('agent_error', 'The agent used more memory than its limits.memory_mb.');
  }
  if (exit.code === notFound) {
    return new LegFailure(
      'agent_error',
      `The agent's program was not found: check command in its agent.yaml. ${said}`,
    );
  }
  return new LegFailure('agent_error', `The agent's program ended (code ${exit.code}). ${said}`);
}

function errorExcerpt(errorOutput: string): string {
  // Removes the colour codes of terminals.
  const plain = errorOutput.replaceAll(/\u001b\[[0-9;]*m/g, '').trim();
  return plain === '' ? 'It gave no reason.' : `It said: ${plain.slice(-excerptMaxCharacters)}`;
}

/** Agents put the reason of a JSON-RPC error into its `data`, each in its own form. */
const details = z.union([
  z.string(),
  z.object({ message: z.string() }).transform(({ message }) => message),
  z.object({ details: z.string() }).transform((data) => data.details),
]);

function reasonIn(error: RequestError): string {
  const detail = details.safeParse(error.data);
  return detail.success ? `${error.message}: ${detail.data}` : error.message;
}
