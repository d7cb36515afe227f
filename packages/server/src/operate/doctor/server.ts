import type { Config } from '../../config/config.ts';
import { publishedAddress } from '../../runtime/data-folder.ts';
import { type Finding, failed, fine, warned } from './finding.ts';

const answerTimeoutMs = 3000;
/** The Date header has whole seconds. */
const clockOkMs = 2000;
const clockLimitMs = 60_000;

/** Whether the server answers, and how far its clock is from this one. */
export async function examineServer(config: Config): Promise<readonly Finding[]> {
  const baseUrl = config.givenBaseUrl ?? publishedAddress(config.dataDir) ?? config.baseUrl;
  const asked = Date.now();
  const signal = AbortSignal.timeout(answerTimeoutMs);
  const answer = await fetch(`${baseUrl}/readyz`, { signal }).catch(() => undefined);
  if (answer === undefined) {
    return [warned('server', `nothing answers at ${baseUrl}`, 'start it: convoke serve')];
  }
  if (!answer.ok) {
    const text = `${baseUrl} answers ${answer.status}`;
    return [failed('server', text, 'see its log, and what else stands here')];
  }
  const theirs = Date.parse(answer.headers.get('date') ?? '');
  const server = fine('server', `${baseUrl} answers and is ready`);
  return Number.isNaN(theirs) ? [server] : [server, judgeClock(theirs, asked)];
}

/** Their clock was read at some moment between the request and its answer. */
function judgeClock(theirs: number, asked: number): Finding {
  const now = Date.now();
  const apart = theirs < asked ? asked - theirs : Math.max(0, theirs - now);
  if (apart <= clockOkMs) return fine('clock', 'agrees with the server');
  const text = `${Math.round(apart / 1000)} s apart from the server's`;
  const remedy = 'set both machines by NTP: tokens and deadlines depend on it';
  return (apart > clockLimitMs ? failed : warned)('clock', text, remedy);
}
