import { formatEventId } from '@convoke/contract';
import type { TranscriptEvent } from '../src/index.ts';

/** The log of a run, written as type and data. */
export function logOf(
  ...events: readonly (readonly [string, object])[]
): readonly TranscriptEvent[] {
  return events.map(([type, data], index) => ({ id: formatEventId(index + 1), type, data }));
}

export const said = (text: string) => ['message_delta', { text }] as const;

export const permission = {
  request_id: 'toolu_1',
  interaction_key: 'key_1',
  tool_name: 'Write',
  tool_input: { path: 'a' },
  tool_call_id: 'toolu_1',
};

/** A run that shows a call and then asks for it. */
export const shownThenAsked = [
  ['run_started', {}],
  said('I write. '),
  ['claude.tool_call', { tool_call_id: 'toolu_1', name: 'Write', input: { path: 'a' } }],
  ['permission_request', permission],
] as const;
