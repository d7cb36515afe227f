import type { Json, RunEvent } from '@convoke/sdk';
import { jsonSummary } from '../json-text.ts';
import { waitEnd, waitName } from '../waits.ts';

type CallDecision = Extract<RunEvent, { type: 'call_decided' }>['data'];

/** What rules decided about a call: `denied write_file · rule no-production of the organization`. */
function decidedText({ tool_name: tool, effect, by, rules, observed }: CallDecision): string {
  const names = rules.map(({ source, name }) =>
    source === 'organization' ? `${name} of the organization` : name,
  );
  const named = names.length === 1 ? 'rule ' : 'rules ';
  const words = observed === true ? would[effect] : by === 'memory' ? 'remembered:' : done[effect];
  return `${words} ${tool}${names.length === 0 ? '' : ` · ${named}${names.join(', ')}`}`;
}

/** The same of a denial, as a sentence of its conversation, with what the author of the rule says. */
export function deniedText({ tool_name: tool, rules }: CallDecision): string {
  const [first] = rules;
  if (first === undefined) return `${tool} was denied by a rule.`;
  const whose = first.source === 'organization' ? ' of the organization' : '';
  const why = first.reason === undefined ? '.' : `: ${first.reason}`;
  return `${tool} was denied by the rule ${first.name}${whose}${why}`;
}

const would = { allow: 'would allow', ask: 'would ask about', deny: 'would deny' } as const;
const done = { allow: 'allowed', ask: 'asked about', deny: 'denied' } as const;

const whys = {
  answered: 'what it waited for has come',
  worker_lost: 'after its server was lost',
  drained: 'after its server was stopped',
} as const;

/** The event in a line, where its members would not say it to people. */
export function eventLine(event: RunEvent): string | undefined {
  if (event.type === 'call_decided') return decidedText(event.data);
  if (event.type === 'run_resumed') return whys[event.data.reason];
  if (event.type === 'run_started') {
    const { agent_digest: digest } = event.data;
    return digest === undefined ? '' : `version ${digest.slice(0, 8)} of the agent`;
  }
  if (event.type === 'wait_started') return waitName(event.data);
  if (event.type === 'wait_ended') {
    return `${waitName(event.data)}: ${waitEnd(event.data.outcome)}`;
  }
  if (event.type !== 'permission_request') return toolText(event.type, event.data);
  const { tool_name: tool, rules = [] } = event.data;
  const why = rules.find(({ reason }) => reason !== undefined)?.reason;
  return why === undefined ? tool : `${tool} · ${why}`;
}

/** `find_order number: 7`, and of its result `find_order total: 20`, or why it failed. */
function toolText(type: string, data: object): string | undefined {
  const { name, input, ok, output } = data as Readonly<Record<string, Json | undefined>>;
  if (typeof name !== 'string') return undefined;
  const line = (value: Json | undefined) => `${name} ${jsonSummary(value, 160)}`.trim();
  if (type.endsWith('.tool_call')) return line(input);
  if (!type.endsWith('.tool_result')) return undefined;
  return ok === false ? `failed: ${line(output)}` : line(output);
}
