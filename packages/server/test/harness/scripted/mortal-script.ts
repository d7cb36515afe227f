import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type AgentRule, agentRules } from '@convoke/contract';
import type { Json } from '../../../src/domain/json.ts';
import { readRules } from '../../../src/domain/rules/rule.ts';
import type { Run } from '../../../src/domain/run/run.ts';
import { scriptedHarness } from '../../../src/harness/scripted/harness.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { agentOf } from '../../support/agent-folders.ts';
import type { DatabaseKind } from '../../support/databases.ts';
import { MortalLegs } from '../../support/mortal-legs.ts';

/** Workers that die under a scripted agent with these rules. */
export function openMortalScript(
  kind: DatabaseKind,
  { script, rules }: { readonly script: readonly Json[]; readonly rules: readonly AgentRule[] },
): Promise<MortalLegs> {
  const settings = { script };
  const ruled = readRules(agentRules.parse(rules));
  const agent = agentOf({ framework: 'scripted', settings, rules: ruled });
  return MortalLegs.open({ kind, agent, harness: scriptedHarness({ clock: systemClock }) });
}

/** The content of a file of the run's session; empty for none. */
export function contentOf(legs: MortalLegs, run: Run, path: string): string {
  const file = join(legs.foldersOf(run).sessionFolder, path);
  return existsSync(file) ? readFileSync(file, 'utf8') : '';
}
