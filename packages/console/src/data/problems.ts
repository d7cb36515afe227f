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
  unauthorized: ['Your sign-in has ended.', 'Sign in again; the page comes back to this place.'],
  forbidden: [
    'You have no access to this.',
    'Ask an owner of the organization for a role that includes it.',
  ],
  insufficient_scope: [
    'Your role does not allow this.',
    'Ask an owner of the organization for the role "operator" or "admin".',
  ],
  not_found: ['This does not exist here.', 'Check the address, or choose another tenant.'],
  agent_not_found: [
    'There is no such agent in this tenant.',
    'Check its name on the Agents screen; its folder may not load.',
  ],
  interaction_answered: [
    'This was answered already.',
    'The answer that counts is shown; nothing was changed.',
  ],
  interaction_not_pending: [
    'This no longer waits for an answer.',
    'It expired, or its run has ended.',
  ],
  invalid_answer: ['The answer does not fit.', 'Correct it and send it again.'],
  session_busy: ['The session is executing a run.', 'Wait until it has ended, or stop it.'],
  session_stopped: ['The session is stopped.', 'Resume it, then send again.'],
  session_terminal: ['The session has ended for good.', 'Start a new session.'],
  run_terminal: ['The run has ended already.', 'There is nothing left to cancel.'],
  version_conflict: [
    'It was changed elsewhere in the meantime.',
    'The current state was read again; look at it and repeat your change.',
  ],
  client_limit_reached: ['The organization has its maximum of clients.', 'Delete one first.'],
  credential_limit_reached: [
    'The client has two active credentials already.',
    'Revoke one first, then add the new one.',
  ],
  tenant_limit_reached: ['The organization has its maximum of tenants.', 'Offboard one first.'],
  confirmation_mismatch: ['The confirmation does not match.', 'Type the exact id.'],
  file_too_large: ['The file is too large.', 'Attach a smaller one.'],
  file_limit_reached: ['The session has its maximum of files.', 'Delete one first.'],
  unpriced_model: [
    'A cost limit applies, but a model has no price on this server.',
    'Ask the operator to name its price, or limit tokens instead.',
  ],
  budget_exhausted: ['A budget is used up.', 'Wait for its next period, or raise it.'],
  invalid_cron: ['The time plan is not valid.', 'Five fields: minute hour day month weekday.'],
  invalid_time_zone: ['The time zone is not known.', 'Use a name such as Europe/Berlin or UTC.'],
  invalid_webhook_url: [
    'The address cannot be delivered to.',
    'It must be https, public, and without a user name.',
  ],
  cursor_expired: ['Older events are no longer kept.', 'The lists were read again.'],
  rate_limited: ['Too many requests.', 'Wait a moment and try again.'],
  storage_unavailable: ['The server cannot write at the moment.', 'Try again in a minute.'],
  not_ready: ['The server is starting.', 'Try again in a moment.'],
  internal: ['The server failed.', 'Try again; if it stays, send the request id to the operator.'],
  connection_failed: ['The server does not answer.', 'The page tries again by itself.'],
  timeout: ['The server did not answer in time.', 'Try again.'],
};

export function problemOf(error: unknown): Problem {
  if (!(error instanceof ConvokeError)) return problemOfPage(error);
  const { code, requestId } = error;
  const [title, action] = known[code] ?? ['The request was refused.', ''];
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
    const action = 'Ask an owner of the organization for the role "operator" or "viewer".';
    return { title: 'You have no access to this tenant.', action, code };
  }
  if (name === 'SignInFailed') return { title: 'The sign-in failed.', action: text, code };
  // What fetch throws when there is no answer.
  if (error instanceof TypeError && /fetch|network/i.test(text)) {
    const [title, action] = known['connection_failed'] ?? ['', ''];
    return { title, action, code: 'connection_failed' };
  }
  return { title: 'The page failed.', action: text, code };
}

/** Another person, tab or the end of the run was first: the server has an answer, and it is not this one. */
export function wasTooLate(error: unknown): boolean {
  return (
    error instanceof ConvokeError &&
    (error.code === 'interaction_answered' || error.code === 'interaction_not_pending')
  );
}

/** Codes whose message names the field or the limit. */
const needsDetail = new Set(['invalid_answer', 'file_too_large', 'invalid_webhook_url']);

function joined(message: string, action: string): string {
  return action === '' ? message : `${message} ${action}`;
}

/** Why a run ended with an error, and what helps. By the error code of the run. */
const remedies: Readonly<Record<string, string>> = {
  agent_error: 'The agent program failed. Its own message is above; look at the last events.',
  model_error: 'The model provider refused or failed. Check the key, the model name and the quota.',
  tool_error: 'A tool failed. Open its call in the timeline to see input and output.',
  run_timeout: 'The run took longer than its agent allows (limits.run_seconds in agent.yaml).',
  interaction_expired: 'A person did not answer in time. Run it again when someone can answer.',
  worker_lost:
    'The server that executed the run was lost and the run could not go on. Run it again.',
  tool_in_doubt: 'A tool call may have been carried out, and the agent is set to end in that case.',
  sandbox_unavailable: 'The sandbox for programs could not start. The server log says why.',
  budget_exceeded: 'The run reached a budget. What it said and did is kept.',
  internal_error: 'The server failed. Its log has the cause; quote the id of the run.',
};

export function remedyOf(errorCode: string | undefined): string {
  return remedies[errorCode ?? ''] ?? 'Look at the last events of the run.';
}

/** What the answers about a call in doubt do (D-83, D-84). Only the exact second one repeats the call. */
export function meaningOfDoubtOption(label: string): string {
  switch (label) {
    case 'It was done':
      return 'The server tells the agent that the call was carried out. The call is not repeated.';
    case 'It was not done: do it now':
      return 'The call is carried out once more, with the input above.';
    case 'I do not know: leave it':
      return 'The server tells the agent that the result is unknown. The call is not repeated.';
    default:
      return 'The server gives the agent your words. The call is not repeated.';
  }
}
