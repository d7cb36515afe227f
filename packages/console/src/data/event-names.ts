/** What happened, in words, by the type of the event. */
const names: Readonly<Record<string, string>> = {
  run_queued: 'Queued',
  run_started: 'Started',
  run_waiting: 'Waiting',
  run_interrupted: 'Interrupted',
  run_resumed: 'Resumed',
  run_completed: 'Completed',
  run_cancelled: 'Cancelled',
  error: 'Failed',
  message_delta: 'Text',
  permission_request: 'Permission requested',
  permission_resolved: 'Permission decided',
  user_question: 'Question asked',
  user_answered: 'Question answered',
  context_file_loaded: 'Context file loaded',
  context_file_changed: 'Context file changed',
  claude_md_loaded: 'Instructions loaded',
  claude_md_changed: 'Instructions changed',
};

/** An event of a framework is called by its last part: `ai-sdk.tool_call` is a tool call. */
export function eventName(type: string): string {
  const known = names[type];
  if (known !== undefined) return known;
  const words = (type.split('.').at(-1) ?? type).replaceAll('_', ' ');
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
}
