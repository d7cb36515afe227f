import type { RequestError } from '@agentclientprotocol/sdk';
import { z } from 'zod';
import { LegFailure } from '../leg-failure.ts';
import type { ProcessExit } from '../../ports/sandbox.ts';

const authRequired = -32_000;
const saidMaxCharacters = 400;
const notFound = 127;

/** The agent itself answered that it cannot: most often its model refused, or could not be reached. */
export function refusedBy(error: RequestError, doing: string): LegFailure {
  const isRefusal = true;
  const isWorking = doing === 'session/prompt';
  if (error.code === authRequired) {
    return isWorking
      ? new LegFailure('model_error', `${refusedKey} ${reasonIn(error)}`, { isRefusal })
      : new LegFailure('agent_error', wantsAuthentication, { isRefusal });
  }
  return new LegFailure(
    isWorking ? 'model_error' : 'agent_error',
    isWorking
      ? `The agent failed: ${reasonIn(error)}`
      : `The agent refused ${doing}: ${reasonIn(error)}`,
    { isRefusal },
  );
}

const wantsAuthentication =
  "The agent wants authentication: give it its key in agent.yaml's env, and name the way in acp.auth_method.";

/** It got as far as the prompt, so that it has a key. */
const refusedKey =
  "The API key was refused: check the one that agent.yaml's env refers to. The agent said:";

export function endedEarly(exit: ProcessExit, errorOutput: string): LegFailure {
  const said = lastWords(errorOutput);
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

function lastWords(errorOutput: string): string {
  // Colours are for terminals.
  const plain = errorOutput.replaceAll(/\u001b\[[0-9;]*m/g, '').trim();
  return plain === '' ? 'It said nothing about it.' : `It said: ${plain.slice(-saidMaxCharacters)}`;
}

/** Agents keep the reason of a JSON-RPC error in its `data`, each in its own form. */
const details = z.union([
  z.string(),
  z.looseObject({ message: z.string() }).transform(({ message }) => message),
  z.looseObject({ details: z.string() }).transform((data) => data.details),
]);

function reasonIn(error: RequestError): string {
  const detail = details.safeParse(error.data);
  return detail.success ? `${error.message}: ${detail.data}` : error.message;
}
