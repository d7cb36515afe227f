import type { Report, ReportedRequirement } from './report.ts';

/** One suite a section, one test case a check. */
export function junitReport(report: Report): string {
  const sections = [...new Set(report.requirements.map(({ section }) => section))];
  const suites = sections.map((section) => {
    const own = report.requirements.filter((each) => each.section === section);
    const cases = own.flatMap(casesOf);
    const failures = cases.filter((text) => text.includes('<failure')).length;
    const skipped = cases.filter((text) => text.includes('<skipped')).length;
    const counts = `tests="${cases.length}" failures="${failures}" skipped="${skipped}"`;
    return `  <testsuite name="section ${escaped(section)}" ${counts}>\n${cases.join('\n')}\n  </testsuite>`;
  });
  const { kit, duration_ms: ms } = report;
  const name = escaped(`${kit.name} ${kit.version}`);
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="${name}" time="${ms / 1000}">`,
    ...suites,
    '</testsuites>',
    '',
  ].join('\n');
}

function casesOf(requirement: ReportedRequirement): string[] {
  const { id, text, outcome, reason } = requirement;
  if (requirement.checks.length === 0) {
    return [testCase({ id, title: text, ms: 0 }, skipped(reason ?? outcome))];
  }
  return requirement.checks.map(({ title, outcome: result, message = '', ms }) => {
    const place = { id, title, ms };
    if (result === 'pass') return testCase(place, '');
    const isFailure = result === 'fail' && outcome === 'fail' && requirement.expected !== true;
    if (!isFailure) return testCase(place, skipped(`${outcome}: ${reason ?? message}`));
    return testCase(place, `<failure message="${escaped(text)}">${escaped(message)}</failure>`);
  });
}

interface Place {
  readonly id: string;
  readonly title: string;
  readonly ms: number;
}

function testCase({ id, title, ms }: Place, content: string): string {
  const head = `classname="${escaped(id)}" name="${escaped(title)}" time="${ms / 1000}"`;
  return content === '' ? `    <testcase ${head}/>` : `    <testcase ${head}>${content}</testcase>`;
}

function skipped(message: string): string {
  return `<skipped message="${escaped(message)}"/>`;
}

/** XML has no place for control characters, whatever their form. */
function escaped(text: string): string {
  return text
    .replaceAll(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '?')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll('\n', '&#10;');
}
