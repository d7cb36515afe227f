import { lightFetch } from '../light-fetch.ts';
import { endLine, remark } from './output.ts';

/** How long the server may be away before the command says so. */
const delayMs = 2000;
const awayStatuses = [502, 503, 504];

let timer: NodeJS.Timeout | undefined;

/**
 * Calls a server. Says once, in a terminal, that it does not answer: the SDK repeats such calls without a word, and a
 * person should know what the command waits for.
 */
export async function fetchWatched(url: string, init: RequestInit): Promise<Response> {
  try {
    const response = await lightFetch(url, init);
    if (awayStatuses.includes(response.status)) expectAnswer();
    else noteAnswer();
    return response;
  } catch (error) {
    if (init.signal?.aborted !== true) expectAnswer();
    throw error;
  }
}

function expectAnswer(): void {
  if (!process.stderr.isTTY) return;
  timer ??= setTimeout(() => {
    if (process.stdout.isTTY) endLine();
    remark('waiting for the server', 'dim');
  }, delayMs).unref();
}

function noteAnswer(): void {
  clearTimeout(timer);
  timer = undefined;
}
