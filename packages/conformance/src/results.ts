import type { ExpectedFailures } from './expected-failures.ts';
import type { Requirement } from './requirements/requirement.ts';

export interface CheckResult {
  readonly id: string;
  readonly title: string;
  readonly outcome: 'pass' | 'fail' | 'not applicable' | 'not exercised';
  readonly message?: string;
  readonly ms: number;
}

/** The outcome of a requirement: `warning` is a failed check of a "should". */
export type Outcome = CheckResult['outcome'] | 'warning';

export interface RequirementResult {
  readonly requirement: Requirement;
  readonly outcome: Outcome;
  /** Its failure is in the file of expected failures. */
  readonly isExpected: boolean;
  readonly checks: readonly CheckResult[];
}

export interface Results {
  readonly requirements: readonly RequirementResult[];
  /** Lines of the file of expected failures whose requirement passed. */
  readonly stale: readonly string[];
}

export const outcomes: readonly Outcome[] = [
  'pass',
  'fail',
  'warning',
  'not applicable',
  'not exercised',
];

export function resultsOf(
  wanted: readonly Requirement[],
  checks: readonly CheckResult[],
  expected: ExpectedFailures,
): Results {
  const requirements = wanted.map((requirement) => {
    const own = checks.filter(({ id }) => id === requirement.id);
    const outcome = outcomeOf(requirement, own);
    const isExpected = isFailure(outcome) && expected.has(requirement.id);
    return { requirement, outcome, isExpected, checks: own };
  });
  const stale = requirements
    .filter(({ requirement, outcome }) => outcome === 'pass' && expected.has(requirement.id))
    .map(({ requirement }) => requirement.id);
  return { requirements, stale };
}

/** D-231: a `must` failed that is not expected to, or an expected failure did not. */
export function isConforming({ requirements, stale }: Results): boolean {
  return (
    stale.length === 0 &&
    !requirements.some(({ outcome, isExpected }) => outcome === 'fail' && !isExpected)
  );
}

export function countOf({ requirements }: Results, outcome: Outcome): number {
  return requirements.filter((each) => each.outcome === outcome).length;
}

function isFailure(outcome: Outcome): boolean {
  return outcome === 'fail' || outcome === 'warning';
}

function outcomeOf({ level }: Requirement, checks: readonly CheckResult[]): Outcome {
  const has = (outcome: CheckResult['outcome']) => checks.some((each) => each.outcome === outcome);
  if (has('fail')) return level === 'must' ? 'fail' : 'warning';
  if (has('pass')) return 'pass';
  return has('not applicable') ? 'not applicable' : 'not exercised';
}
