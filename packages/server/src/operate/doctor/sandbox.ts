import type { SandboxReport } from '../../ports/sandbox.ts';
import { type Finding, fine, warned } from './finding.ts';

/** Says how programs run, or that they do not: an operator must not read that they run unprotected. */
export function sandboxFinding(report: SandboxReport): Finding {
  const { level, systemCalls, network, limits, problems } = report;
  const remedy = problems.join('; ');
  if (level === 'nothing') {
    const others = 'those that need to fail, all others work';
    return warned('sandbox', `agents cannot run programs here: ${others}`, remedy);
  }
  const how = level === 'bwrap' ? 'in bwrap' : 'without a sandbox';
  const files = level === 'bwrap' ? ', no file of the server open' : '';
  const text = `programs run ${how}, system calls ${systemCalls}${files}, network ${network}, limits by ${limits}`;
  return problems.length === 0 ? fine('sandbox', text) : warned('sandbox', text, remedy);
}
