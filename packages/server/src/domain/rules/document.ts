import type { OrganizationId, OrganizationRule, UserId } from '@convoke/contract';
import { type Json, canonicalJson } from '../json.ts';

/** The rules of an organization about tool calls, as its people wrote them: one list, replaced as a whole (D-500). */
export interface RuleDocument {
  readonly organizationId: OrganizationId;
  /** Counts the changes. Before the first there is no document, which is version 0. */
  readonly version: number;
  readonly rules: readonly OrganizationRule[];
  readonly updatedBy: UserId;
  readonly updatedAt: number;
}

type RuleBodies = RuleDocument['rules'];

/** Whether both say the same, in the same order: the order of the keys within a rule does not count. */
export function areSameRules(one: RuleBodies, other: RuleBodies): boolean {
  return rulesText(one) === rulesText(other);
}

/** The text whose digest the audit log keeps. */
export function rulesText(rules: RuleBodies): string {
  // A parsed rule may have keys without a value, which JSON does not have.
  return canonicalJson(JSON.parse(JSON.stringify(rules)) as Json);
}

/**
 * Names of the rules that a new document adds, changes and removes. Rules that only changed their places are in none.
 */
export interface RuleChanges {
  readonly added: readonly string[];
  readonly changed: readonly string[];
  readonly removed: readonly string[];
}

export function changesOf(seen: RuleBodies, next: RuleBodies): RuleChanges {
  const before = new Map(seen.map((rule) => [rule.name, rule]));
  const after = new Map(next.map((rule) => [rule.name, rule]));
  const isChanged = (name: string) => {
    const [one, other] = [before.get(name), after.get(name)];
    return one !== undefined && other !== undefined && !areSameRules([one], [other]);
  };
  return {
    added: [...after.keys()].filter((name) => !before.has(name)),
    changed: [...after.keys()].filter(isChanged),
    removed: [...before.keys()].filter((name) => !after.has(name)),
  };
}

/** D-527: a document with a rule that only owners can satisfy is for owners to change. */
export function namesOwners(rules: RuleBodies): boolean {
  return rules.some(({ approvers }) => approvers?.role === 'owner');
}
