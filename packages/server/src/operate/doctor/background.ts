import type { Config } from '../../config/config.ts';
import {
  type ReportedPass,
  type ReportedPasses,
  readPassReport,
} from '../../workers/pass-report.ts';
import { type Finding, failed, fine, messageOf, warned } from './finding.ts';

const check = 'background';
/** A running server writes its report every 5 s. */
const reportMaxAgeMs = 30_000;
/** A pass may take this long beyond its period before it counts as overdue. */
const overdueAfterMs = 30_000;
const seeLog = 'see the log of the server for the cause; the pass is retried automatically';

/** Checks the report of a server's background work. A server that is not running is the business of `examineServer`. */
export async function examineBackground({ dataDir, cluster }: Config): Promise<readonly Finding[]> {
  if (!cluster.roles.has('worker')) return [];
  try {
    const found = await readPassReport(dataDir);
    if (found === undefined || found.report.is_stopped) return [];
    const ageMs = Date.now() - found.modifiedAt;
    if (ageMs <= reportMaxAgeMs) return findingsOf(found.report);
    const text = `the server has not reported for ${duration(ageMs)}`;
    return [warned(check, text, 'if it should be running, see its log and restart it')];
  } catch (error) {
    const text = `the report of the server cannot be read: ${messageOf(error)}`;
    return [warned(check, text, `delete passes.json in ${dataDir}; the server writes it again`)];
  }
}

function findingsOf(report: ReportedPasses): readonly Finding[] {
  const { passes } = report;
  const details = table(report);
  const troubles = passes.flatMap((pass) => {
    const trouble = troubleOf(pass, report);
    return trouble === undefined ? [] : [trouble];
  });
  if (troubles.length > 0) {
    const rest = passes.length - troubles.length;
    return troubles.map((text, index) =>
      index === 0
        ? { ...failed(check, `${text} (${rest} other passes are well)`, seeLog), details }
        : failed(check, text, seeLog),
    );
  }
  const pending = passes.filter((pass) => pass.last_succeeded_at === null).length;
  const state =
    pending === 0
      ? 'all succeeded within their period'
      : `${pending} have yet to complete their first execution, the others succeeded`;
  return [{ ...fine(check, `${passes.length} passes, ${state}${slowest(passes)}`), details }];
}

function troubleOf(pass: ReportedPass, report: ReportedPasses): string | undefined {
  const { name, failures_in_a_row: failures } = pass;
  if (failures > 0) {
    const times = failures === 1 ? 'failed' : `failed ${failures} times in a row`;
    return `${name} ${times}: ${pass.last_error ?? 'unknown error'}`;
  }
  // Both times are from the server's clock, which may differ from this machine's.
  const sinceMs = report.written_at - (pass.last_succeeded_at ?? report.started_at);
  if (sinceMs <= pass.every_ms + overdueAfterMs) return undefined;
  const running =
    pass.running_since === null
      ? ''
      : `, has been running for ${duration(report.written_at - pass.running_since)}`;
  return `${name} is overdue: due every ${duration(pass.every_ms)}, has not completed for ${duration(sinceMs)}${running}`;
}

function slowest(passes: readonly ReportedPass[]): string {
  const [pass] = passes.toSorted((a, b) => (b.last_duration_ms ?? 0) - (a.last_duration_ms ?? 0));
  if (pass === undefined) return '';
  return `; slowest: ${pass.name}, ${duration(pass.last_duration_ms ?? 0)}`;
}

/** One line per pass, for `--verbose`. */
function table({ passes, written_at: writtenAt }: ReportedPasses): readonly string[] {
  const width = Math.max(...passes.map(({ name }) => name.length), 0);
  return passes.map((pass) => {
    const succeeded =
      pass.last_succeeded_at === null
        ? 'not yet'
        : `${duration(writtenAt - pass.last_succeeded_at)} ago`;
    const took = pass.last_duration_ms === null ? '-' : duration(pass.last_duration_ms);
    const outcome = pass.last_error === null ? '' : `  failing: ${pass.last_error}`;
    const every = duration(pass.every_ms).padStart(6);
    return `${pass.name.padEnd(width)}  every ${every}  succeeded ${succeeded.padEnd(10)}  took ${took}${outcome}`;
  });
}

export function duration(ms: number): string {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 120_000) return `${Math.round(ms / 1000)} s`;
  if (ms < 7_200_000) return `${Math.round(ms / 60_000)} min`;
  return `${Math.round(ms / 3_600_000)} h`;
}
