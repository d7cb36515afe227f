import type { Report, ReportedRequirement } from './report.ts';

const marks: Readonly<Record<string, string>> = {
  pass: '✓',
  fail: '✗',
  warning: '!',
  'not applicable': '-',
  'not exercised': '·',
};

/** For people: one line a requirement, and below it what went wrong. */
export function textReport(report: Report): string {
  const { kit, specification, dialect, summary } = report;
  const lines = [
    `${kit.name} ${kit.version} on ${report.base_url}`,
    `${specification.title} (${specification.sha256.slice(0, 12)}), dialect ${dialect.name}`,
  ];
  let section = '';
  for (const requirement of report.requirements) {
    if (requirement.section !== section) lines.push('', titleOf(requirement.section));
    section = requirement.section;
    lines.push(...linesOf(requirement));
  }
  const counts = Object.entries(summary).map(([outcome, count]) => `${count} ${outcome}`);
  const expected = report.requirements.filter((each) => each.expected).length;
  lines.push('', `${counts.join(', ')}${expected > 0 ? `; ${expected} expected to fail` : ''}`);
  for (const id of report.stale) lines.push(`Stale: ${id} is expected to fail, but passes.`);
  const seconds = (report.duration_ms / 1000).toFixed(1);
  lines.push(`${report.conforming ? 'Conforming' : 'NOT CONFORMING'}, in ${seconds} s.`);
  return `${lines.join('\n')}\n`;
}

function titleOf(section: string): string {
  return section === 'convoke' ? 'Decisions of Convoke' : `Section ${section}`;
}

function linesOf(requirement: ReportedRequirement): string[] {
  const { id, text, outcome, expected, reason, checks } = requirement;
  const note = expected ? ' (expected)' : '';
  const lines = [`${marks[outcome] ?? '?'} ${id.padEnd(24)} ${text}${note}`];
  if (outcome === 'pass') return lines;
  if (reason !== undefined) lines.push(`    ${outcome}: ${reason}`);
  for (const check of checks) {
    if (check.message === undefined) continue;
    const [first = '', ...rest] = check.message.split('\n');
    lines.push(`    ${check.title}`, ...[first, ...rest].map((line) => `      ${line}`));
  }
  return lines;
}
