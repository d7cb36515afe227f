import type { Config } from '../../config/config.ts';
import { publishedAddress } from '../../runtime/data-folder.ts';
import { type Finding, failed, fine, warned } from './finding.ts';

const responseTimeoutMs = 3000;
/** The Date header has whole seconds. */
const clockOkMs = 2000;
const clockLimitMs = 60_000;

/** Checks that the server responds, and compares its clock with this machine's. */
export async function examineServer(config: Config): Promise<readonly Finding[]> {
  const baseUrl = config.givenBaseUrl ?? publishedAddress(config.dataDir) ?? config.baseUrl;
  const asked = Date.now();
  const signal = AbortSignal.timeout(responseTimeoutMs);
  const answer = await fetch(`${baseUrl}/readyz`, { signal }).catch(() => undefined);
  if (answer === undefined) {
    return [warned('server', `nothing responds at ${baseUrl}`, 'start the server: convoke serve')];
  }
  if (!answer.ok) {
    const text = `${baseUrl}/readyz returned ${answer.status}`;
    return [failed('server', text, 'see the log of the server and the other findings')];
  }
  const theirs = Date.parse(answer.headers.get('date') ?? '');
  const server = fine('server', `${baseUrl} is ready`);
  return Number.isNaN(theirs) ? [server] : [server, compareClocks(theirs, asked)];
}

/** The server read its clock between our request and its response. */
function compareClocks(theirs: number, asked: number): Finding {
  const now = Date.now();
  const apart = theirs < asked ? asked - theirs : Math.max(0, theirs - now);
  if (apart <= clockOkMs) return fine('clock', 'agrees with the server');
  const text = `${Math.round(apart / 1000)} s away from the clock of the server`;
  const remedy = 'synchronize both machines by NTP: tokens and deadlines depend on it';
  return (apart > clockLimitMs ? failed : warned)('clock', text, remedy);
}
