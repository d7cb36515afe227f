import type { TryRules } from './generated/requests.ts';
import type { RuleTrialRecord } from './generated/rule-records.ts';
import { PlainRules } from './generated/rules.ts';
import type { CallOptions } from './transport/transport.ts';

/** What a draft changes about the past calls that were looked at until now. */
export type RuleTrialSoFar = Omit<RuleTrialRecord, 'next_cursor'>;

/** The rules of the organization about tool calls: one document. */
export class Rules extends PlainRules {
  /**
   * Tries a draft over all past calls since a time. Yields what was found so far after each page, so that a caller can
   * show it, or stop (D-832).
   *
   * @example
   * for await (const { calls, changed } of admin.rules.tryAll({ rules })) console.log(calls, changed);
   */
  async *tryAll(
    draft: Omit<TryRules, 'cursor'> & CallOptions,
  ): AsyncGenerator<RuleTrialSoFar, void> {
    let found: RuleTrialSoFar | undefined;
    for (let cursor: string | undefined; ; ) {
      const { next_cursor: next, ...page } = await this.try({ ...draft, cursor });
      found = found === undefined ? page : together(found, page);
      yield found;
      if (next === undefined) return;
      cursor = next;
    }
  }
}

/** As many as a page has at most. */
const changesMax = 100;

function together(one: RuleTrialSoFar, other: RuleTrialSoFar): RuleTrialSoFar {
  return {
    calls: one.calls + other.calls,
    changed: one.changed + other.changed,
    rules: one.rules.map((rule, at) => ({
      ...rule,
      matched: rule.matched + (other.rules[at]?.matched ?? 0),
    })),
    changes: [...one.changes, ...other.changes].slice(0, changesMax),
  };
}
