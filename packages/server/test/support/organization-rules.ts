import { type OrganizationRule, organizationRules, userId } from '@convoke/contract';
import type { RunFixture } from './run-fixture.ts';

/** Replaces the rules of the organization. A rule that says nothing else asks about every tool. */
export async function setOrganizationRules(
  { store, scope }: Pick<RunFixture, 'store' | 'scope'>,
  list: readonly Partial<OrganizationRule>[],
): Promise<void> {
  const { organizationId } = scope;
  const version = (await store.read.rules.version(organizationId)) + 1;
  const rules = organizationRules.parse(
    list.map((rule, at) => ({ name: `o-${at}`, tools: ['*'], effect: 'ask', ...rule })),
  );
  const document = { organizationId, version, rules, updatedAt: 1, updatedBy: userId('usr_1') };
  await store.transaction((tx) => tx.rules.save(document));
}
