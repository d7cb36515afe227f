/**
 * Every event type of the specification. The contract declares the same ones with their payloads: a new type that is
 * missing here, or in the switch of `RunTranscript`, does not compile.
 */
const eventTypes = [
  'run_started',
  'run_interrupted',
  'run_resumed',
  'run_output',
  'run_completed',
  'run_cancelled',
  'error',
  'message_delta',
  'permission_request',
  'permission_resolved',
  'permission_approved',
  'call_decided',
  'user_question',
  'user_answered',
  'wait_started',
  'wait_ended',
  'connection_used',
  'context_file_loaded',
  'context_file_changed',
  'claude_md_loaded',
  'claude_md_changed',
  'agent_skills_loaded',
] as const;

export type EventType = (typeof eventTypes)[number];

const known: ReadonlySet<string> = new Set(eventTypes);

/** False for events of a framework, `<framework>.<name>`, and for types of a newer server. */
export function isEventType(type: string): type is EventType {
  return known.has(type);
}
