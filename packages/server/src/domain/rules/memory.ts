import type { InteractionKey, MemoryWidth } from '@convoke/contract';
import { type Json, canonicalJson } from '../json.ts';
import type { AskingRule } from './decide.ts';
import { demandsOf } from './decide.ts';
import type { Approvers, Demands } from './demands.ts';
import { rolesOf } from './approvers.ts';

/** An allow that also allows later calls of its session (D-521). */
export interface Memory {
  readonly key: InteractionKey;
  readonly toolName: string;
  readonly width: MemoryWidth;
  /** As it was approved. */
  readonly input: Json;
  /** The rules that the allow has satisfied. */
  readonly asked: readonly AskingRule[];
  readonly answeredBy: string | null;
}

interface CallToAllow {
  readonly toolName: string;
  readonly input: Json;
  readonly demands: Demands;
  /** Who started the run of the call. */
  readonly startedBy: string | null;
}

/** Whether the rules that ask permit an allow to be remembered as widely as this. */
export function permitsWidth({ remember }: Pick<Demands, 'remember'>, width: MemoryWidth): boolean {
  return remember === 'tool' || remember === width;
}

/**
 * The memory that allows the call: the current rules permit its width, and demand nothing more than it has satisfied.
 */
export function memoryFor(call: CallToAllow, memories: readonly Memory[]): Memory | undefined {
  const { toolName, demands, startedBy } = call;
  const input = canonicalJson(call.input);
  return memories.find(
    (memory) =>
      memory.toolName === toolName &&
      permitsWidth(demands, memory.width) &&
      (memory.width === 'tool' || canonicalJson(memory.input) === input) &&
      isWithin(demands.approvers, demandsOf(memory.asked).approvers) &&
      // The starter of this run may have allowed it in an earlier one (D-824).
      !(demands.approvers.notStarter && memory.answeredBy === startedBy),
  );
}

/** Whether whatever satisfied the demands of then satisfies those of now. */
function isWithin(now: Approvers, then: Approvers): boolean {
  return (
    rolesOf(then).every((role) => rolesOf(now).includes(role)) &&
    now.people <= then.people &&
    (then.notStarter || !now.notStarter) &&
    (now.clients || !then.clients) &&
    (now.endUsers || !then.endUsers)
  );
}
