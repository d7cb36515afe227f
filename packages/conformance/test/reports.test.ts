// D-231: what the reports say, and when the kit fails.
import { expect, test } from 'vitest';
import { type Options, readTask } from '../src/options.ts';
import { junitReport } from '../src/report/junit.ts';
import { reportOf } from '../src/report/report.ts';
import { textReport } from '../src/report/text.ts';
import { invisible, must, should } from '../src/requirements/requirement.ts';
import { type CheckResult, isConforming, resultsOf } from '../src/results.ts';
import { Secrets } from '../src/secrets.ts';

const wanted = [
  must('6-a', 'Passes.'),
  must('6-b', 'Fails.'),
  should('7-c', 'Warns.'),
  invisible('7-d', 'Is not seen.', 'nothing shows it'),
  must('7-e', 'Does not apply.'),
];
const result = (id: string, outcome: CheckResult['outcome'], message?: string): CheckResult => ({
  id,
  title: `check of ${id}`,
  outcome,
  ms: 5,
  ...(message !== undefined && { message }),
});
const found = [
  result('6-a', 'pass'),
  result('6-b', 'fail', 'expected <200> & got "500"\nwith \u0007'),
  result('7-c', 'fail', 'no message'),
  result('7-e', 'not applicable', 'no files'),
];

function optionsOf(): Options {
  const args = ['--base-url', 'http://a', '--access-token', 'x'];
  const task = readTask(args, {});
  if (task.kind !== 'run') throw new Error('expected options');
  return task.options;
}

const reported = (expected: ReadonlyMap<string, string>) =>
  reportOf({
    options: { ...optionsOf(), expectedFailures: expected },
    results: resultsOf(wanted, found, expected),
    startedAt: Date.now(),
    version: '1.2.3',
  });

test('a must that fails is a failure, a should is a warning', () => {
  const results = resultsOf(wanted, found, new Map());
  expect(results.requirements.map(({ outcome }) => outcome)).toEqual([
    'pass',
    'fail',
    'warning',
    'not exercised',
    'not applicable',
  ]);
  expect(isConforming(results)).toBe(false);
  expect(isConforming(resultsOf(wanted.slice(2), found, new Map()))).toBe(true);
});

test('an expected failure conforms until it passes: then its line is stale', () => {
  const expected = new Map([['6-b', 'known']]);
  expect(isConforming(resultsOf(wanted, found, expected))).toBe(true);
  const stale = resultsOf(wanted, found, new Map([...expected, ['6-a', 'was broken']]));
  expect(stale.stale).toEqual(['6-a']);
  expect(isConforming(stale)).toBe(false);
  const unseen = new Map([...expected, ['7-e', 'has none']] as const);
  expect(resultsOf(wanted, found, unseen).stale).toEqual([]);
});

test('one failed check of several fails the requirement', () => {
  const both = [result('6-a', 'pass'), result('6-a', 'fail', 'x')];
  expect(resultsOf(wanted, both, new Map()).requirements[0]?.outcome).toBe('fail');
});

test('the text has a line for each requirement, and what went wrong', () => {
  const text = textReport(reported(new Map([['7-c', 'has no messages']])));
  expect(text).toMatch(/^@convoke\/conformance 1\.2\.3 on http:\/\/a\n/);
  expect(text).toMatch(/^✓ 6-a +Passes\.\n✗ 6-b +Fails\.\n {4}check of 6-b\n {6}expected <200>/m);
  expect(text).toMatch(/^! 7-c +Warns\. \(expected\)\n {4}warning: has no messages\n/m);
  expect(text).toMatch(/^· 7-d +Is not seen\.\n {4}not exercised: nothing shows it\n/m);
  expect(text).toContain(
    '1 pass, 1 fail, 1 warning, 1 not applicable, 1 not exercised; 1 expected',
  );
  expect(text).toContain('NOT CONFORMING');
});

test('JSON names the kit, the specification and the dialect', () => {
  expect(reported(new Map())).toMatchObject({
    kit: { name: '@convoke/conformance', version: '1.2.3' },
    specification: { sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
    dialect: { name: 'convoke', sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
    conforming: false,
    summary: { pass: 1, fail: 1 },
    requirements: expect.arrayContaining([expect.objectContaining({ id: '6-b', outcome: 'fail' })]),
  });
});

test('JUnit has a case for each check, escaped, and failures only where the kit fails', () => {
  const xml = junitReport(reported(new Map()));
  expect(xml.match(/<failure/g)).toHaveLength(1);
  expect(xml).toContain('expected &lt;200&gt; &amp; got &quot;500&quot;&#10;with ?');
  expect(xml.match(/<skipped/g)).toHaveLength(3);
  expect(junitReport(reported(new Map([['6-b', 'known']])))).not.toContain('<failure');
});

test('no secret is in a report, however it is written', () => {
  const secrets = new Secrets();
  secrets.add('cvk_sec/ret+word');
  secrets.add('cvk_sec');
  const text = 'cvk_sec/ret+word, cvk_sec%2Fret%2Bword, cvk_sec; Bearer eyJhbGciOi.J9-_x';
  expect(secrets.hide(text)).toBe('[secret], [secret], [secret]; Bearer [secret]');
});
