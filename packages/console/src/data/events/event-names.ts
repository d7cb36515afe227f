import type { EventType } from '@convoke/faces';
import type { WebhookType } from '@convoke/sdk';

/** What happened, in words, by the type of the event. */
const names: Readonly<Record<EventType | 'run_queued' | 'run_waiting', string>> = {
  run_queued: 'Queued',
  run_started: 'Started',
  run_waiting: 'Waiting',
  run_interrupted: 'Interrupted',
  run_resumed: 'Resumed',
  run_output: 'Output',
  run_completed: 'Completed',
  run_cancelled: 'Cancelled',
  error: 'Failed',
  message_delta: 'Text',
  permission_request: 'Permission requested',
  permission_resolved: 'Permission decided',
  permission_approved: 'Allowed by one of several people',
  call_decided: 'Decided by a rule',
  user_question: 'Question asked',
  user_answered: 'Question answered',
  wait_started: 'Waits',
  wait_ended: 'Wait over',
  connection_used: 'Account used',
  context_file_loaded: 'Context file loaded',
  context_file_changed: 'Context file changed',
  claude_md_loaded: 'Instructions loaded',
  claude_md_changed: 'Instructions changed',
  agent_skills_loaded: 'Agent skills loaded',
};

/** An event of a framework is called by its last part: `ai-sdk.tool_call` is a tool call. */
export function eventName(type: string): string {
  if (isNamed(type)) return names[type];
  const words = (type.split('.').at(-1) ?? type).replaceAll('_', ' ');
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
}

function isNamed(type: string): type is keyof typeof names {
  return Object.hasOwn(names, type);
}

/** Types of notices for webhooks, in words. */
export const webhookEvents: Readonly<Record<Exclude<WebhookType, '*'>, string>> = {
  run_queued: 'Run queued',
  run_started: 'Run started',
  run_waiting: 'Run waiting for a person',
  interaction_answered: 'Request answered',
  interaction_approved: 'Request allowed by one of several people',
  run_interrupted: 'Run interrupted',
  run_resumed: 'Run resumed',
  run_completed: 'Run completed',
  run_cancelled: 'Run cancelled',
  run_failed: 'Run failed',
  run_feedback: 'Run feedback',
  session_created: 'Session created',
  session_stopped: 'Session stopped',
  session_ended: 'Session ended',
  budget_reached: 'Budget reached',
  webhook_disabled: 'Webhook disabled',
  connection_expired: 'Connection expired',
  schedule_skipped: 'Schedule skipped',
};

/** The subject of a delivery: one of the above, or a test. */
export function deliveredName(type: string): string {
  const known: Readonly<Record<string, string>> = webhookEvents;
  return known[type] ?? eventName(type);
}
