import { ConvokeError } from '@convoke/sdk';

/** An error in words: what happened, what to do, and what to quote in a report. */
export interface Problem {
  readonly title: string;
  readonly action: string;
  readonly code: string;
  readonly requestId?: string | undefined;
}

/** By error code of the API. The API's own message follows where it says more. */
const known: Readonly<Record<string, readonly [title: string, action: string]>> = {
  unauthorized: ['Your session has ended.', 'Sign in again to come back to this page.'],
  forbidden: [
    'You don’t have access to this.',
    'Ask an organization owner for a role that includes it.',
  ],
  insufficient_scope: [
    'Your role doesn’t allow this.',
    'Ask an organization owner for the role "operator" or "admin".',
  ],
  not_found: ['Not found.', 'Check the address, or choose another tenant.'],
  invalid_ticket: [
    'This sign-in has ended.',
    'It was used, is too old, or belongs to another session. Connect the account again.',
  ],
  connect_unavailable: [
    'This account can’t be connected by a link.',
    'Ask the operator of the agent.',
  ],
  agent_not_found: [
    'No such agent in this tenant.',
    'Check its name on the Agents screen. Its folder may have failed to load.',
  ],
  interaction_answered: ['Already answered.', 'The recorded answer is shown. Nothing was changed.'],
  interaction_not_pending: [
    'No longer waiting for an answer.',
    'It expired, or its run has ended.',
  ],
  not_an_approver: ['You may not allow this.', 'Ask one of the people that the request names.'],
  denied_by_rule: ['A rule denies this by now.', 'The request can only be denied.'],
  invalid_answer: ['Invalid answer.', 'Correct it and send it again.'],
  session_busy: ['The session is busy.', 'Wait for the current run to end, or stop it.'],
  session_stopped: ['The session is stopped.', 'Resume it, then send again.'],
  session_terminal: ['The session is terminated.', 'Start a new session.'],
  run_terminal: ['The run has already ended.', 'There is nothing to cancel.'],
  version_conflict: [
    'Someone else changed this.',
    'The current state is shown. Review it and repeat your change.',
  ],
  client_limit_reached: ['Client limit reached.', 'Delete a client first.'],
  credential_limit_reached: [
    'The client already has two active credentials.',
    'Revoke one before you add another.',
  ],
  invitation_limit_reached: ['Too many open invitations.', 'Revoke one first.'],
  invitation_not_found: [
    'This invitation doesn’t work.',
    'It was used or revoked, has expired, or the link is incomplete. Ask for a new one.',
  ],
  invitation_for_another: [
    'This invitation is for another email address.',
    'Use the account it was sent to, or ask for a new invitation.',
  ],
  email_taken: [
    'This email address already has an account.',
    'Sign in with it to accept the invitation.',
  ],
  already_member: ['You already belong to this organization.', 'Open the console to continue.'],
  tenant_limit_reached: ['Tenant limit reached.', 'Offboard a tenant first.'],
  confirmation_mismatch: ['The confirmation doesn’t match.', 'Type the exact ID.'],
  file_too_large: ['The file is too large.', 'Attach a smaller one.'],
  file_limit_reached: ['File limit reached.', 'Delete a file first.'],
  unpriced_model: [
    'A cost limit applies, but a model has no price on this server.',
    'Ask the operator to set its price, or limit tokens instead.',
  ],
  connection_missing: ['An account is missing.', 'Connect it, then start the run again.'],
  budget_exhausted: ['Budget used up.', 'Wait for the next period, or raise the limit.'],
  invalid_cron: ['Invalid cron expression.', 'Use five fields: minute hour day month weekday.'],
  invalid_time_zone: ['Unknown time zone.', 'Use a name such as Europe/Berlin or UTC.'],
  invalid_webhook_url: ['This URL isn’t allowed.', 'Use a public https URL without a user name.'],
  cursor_expired: ['Older events are gone.', 'The lists have been refreshed.'],
  rate_limited: ['Too many requests.', 'Wait a moment and try again.'],
  storage_unavailable: ['The server can’t write right now.', 'Try again in a minute.'],
  not_ready: ['The server is starting.', 'Try again in a moment.'],
  internal: ['Server error.', 'Try again. If it persists, send the request ID to the operator.'],
  connection_failed: ['Can’t reach the server.', 'Retrying…'],
  timeout: ['The server took too long to answer.', 'Try again.'],
};

export function problemOf(error: unknown): Problem {
  if (!(error instanceof ConvokeError)) return problemOfPage(error);
  const { code, requestId } = error;
  const [title, action] = known[code] ?? ['Request refused.', ''];
  const isPlain = known[code] !== undefined && !needsDetail.has(code);
  return { title, action: isPlain ? action : joined(error.message, action), code, requestId };
}

/** Errors that the page itself raises: of sign-in, of the exchange, of its own code. */
function problemOfPage(error: unknown): Problem {
  const text = error instanceof Error ? error.message : String(error);
  const name = error instanceof Error ? error.name : '';
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'page_error';
  if (name === 'SignInRequired') {
    const [title, action] = known['unauthorized'] ?? ['', ''];
    return { title, action, code: 'login_required' };
  }
  if (name === 'ExchangeRefused' && code === 'invalid_target') {
    const action = 'Ask an organization owner for the role "operator" or "viewer".';
    return { title: 'You don’t have access to this tenant.', action, code };
  }
  if (name === 'SignInFailed') return { title: 'Sign-in failed.', action: text, code };
  // What fetch throws when there is no answer.
  if (error instanceof TypeError && /fetch|network/i.test(text)) {
    const [title, action] = known['connection_failed'] ?? ['', ''];
    return { title, action, code: 'connection_failed' };
  }
  return { title: 'Something went wrong.', action: text, code };
}

/** Another person, tab or the end of the run was first: the server has an answer, and it is not this one. */
export function wasTooLate(error: unknown): boolean {
  return (
    error instanceof ConvokeError &&
    (error.code === 'interaction_answered' || error.code === 'interaction_not_pending')
  );
}

/** Another person, or a program, has saved a newer version of what was edited. */
export function wasChangedSince(error: unknown): boolean {
  return error instanceof ConvokeError && error.code === 'version_conflict';
}

/** The rules, or the role of the person, are other ones than when the request was read. */
export function mayNotAllow(error: unknown): boolean {
  return (
    error instanceof ConvokeError &&
    (error.code === 'not_an_approver' || error.code === 'denied_by_rule')
  );
}

/** Codes whose message says what exactly is wrong: it comes before what helps in general. */
const needsDetail = new Set([
  'invalid_answer',
  'file_too_large',
  'invalid_webhook_url',
  'invalid_cron',
  'invalid_time_zone',
  'connection_missing',
  'budget_exhausted',
  'unpriced_model',
]);

function joined(message: string, action: string): string {
  return action === '' ? message : `${message} ${action}`;
}

/** Why a run ended with an error, and what helps. By the error code of the run. */
const remedies: Readonly<Record<string, string>> = {
  agent_error: 'The agent failed. Its message is above.',
  model_error:
    'The model provider refused the request or failed. Check the API key, model name and quota.',
  tool_error: 'A tool failed. Open the call to see its input and output.',
  run_timeout: 'The run exceeded its time limit (limits.run_seconds in agent.yaml).',
  interaction_expired:
    'The request expired without an answer. Run it again when a person can answer.',
  worker_lost: 'The server stopped unexpectedly and the run could not be resumed. Run it again.',
  tool_in_doubt: 'A tool call may have completed, and this agent is set to stop in that case.',
  sandbox_unavailable: 'The sandbox failed to start. See the server log.',
  budget_exceeded: 'The run reached its budget. Its output so far is kept.',
  connection_missing:
    'An account that the agent needs is not connected. Connect it, then run it again.',
  output_invalid:
    'The agent returned something else than its output_schema describes. Its text is kept.',
  internal_error: 'Server error. Search the server log for the run ID.',
};

export function remedyOf(errorCode: string | undefined): string {
  return remedies[errorCode ?? ''] ?? 'See the last events in the timeline.';
}
