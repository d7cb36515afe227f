import { createHash } from 'node:crypto';
import type { Options } from '../options.ts';
import { isOfConvoke, requirements, specification } from '../requirements/requirements.ts';
import { type Results, countOf, isConforming, outcomes } from '../results.ts';

export interface Report {
  readonly kit: { readonly name: string; readonly version: string };
  readonly specification: typeof specification & { readonly requirements: number };
  readonly dialect: { readonly name: string; readonly sha256: string };
  readonly level: Options['level'];
  readonly base_url: string;
  readonly with: { readonly owner: boolean; readonly restart: boolean };
  readonly started_at: string;
  readonly duration_ms: number;
  readonly conforming: boolean;
  readonly summary: Readonly<Record<string, number>>;
  readonly stale: readonly string[];
  readonly requirements: readonly ReportedRequirement[];
}

export interface ReportedRequirement {
  readonly id: string;
  readonly section: string;
  readonly level: string;
  readonly text: string;
  readonly outcome: string;
  /** Why its failure is expected, why a client cannot see it. */
  readonly reason?: string;
  readonly expected?: true;
  readonly checks: readonly {
    readonly title: string;
    readonly outcome: string;
    readonly message?: string;
    readonly ms: number;
  }[];
}

export interface Run {
  readonly options: Options;
  readonly results: Results;
  readonly startedAt: number;
  readonly version: string;
}

export function reportOf({ options, results, startedAt, version }: Run): Report {
  const { dialect, level, expectedFailures } = options;
  const counts = outcomes.map((outcome) => [outcome, countOf(results, outcome)]);
  return {
    kit: { name: '@convoke/conformance', version },
    specification: {
      ...specification,
      requirements: requirements.filter((each) => !isOfConvoke(each)).length,
    },
    dialect: { name: dialect.name, sha256: digestOf(JSON.stringify(dialect)) },
    level,
    base_url: options.baseUrl,
    with: { owner: options.ownerToken !== undefined, restart: options.restart !== undefined },
    started_at: new Date(startedAt).toISOString(),
    duration_ms: Date.now() - startedAt,
    conforming: isConforming(results),
    summary: Object.fromEntries(counts) as Record<string, number>,
    stale: results.stale,
    requirements: results.requirements.map(({ requirement, outcome, isExpected, checks }) => {
      const reason = isExpected ? expectedFailures.get(requirement.id) : requirement.reason;
      return {
        id: requirement.id,
        section: requirement.section,
        level: requirement.level,
        text: requirement.text,
        outcome,
        ...(reason !== undefined && { reason }),
        ...(isExpected && { expected: true }),
        checks: checks.map(({ title, outcome: came, message, ms }) => ({
          title,
          outcome: came,
          ...(message !== undefined && { message }),
          ms,
        })),
      };
    }),
  };
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
