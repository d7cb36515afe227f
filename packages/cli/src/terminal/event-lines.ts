import type { RunEvent } from '@convoke/sdk';
import { decisionOf, standstillOf, waitOf } from './show-run.ts';

/** Renders recorded events for people, one line each; the pieces of an answer become one text. */
export async function* eventLines(events: AsyncIterable<RunEvent>): AsyncGenerator<string> {
  let text = '';
  let lastId = '';
  const joined = function* () {
    if (text !== '') yield line(lastId, 'message', text.trimEnd());
    text = '';
  };
  for await (const event of events) {
    if (event.type === 'message_delta') {
      text += event.data.text;
      lastId = event.id;
      continue;
    }
    yield* joined();
    yield line(event.id, event.type, summaryOf(event));
  }
  yield* joined();
}

const typeWidth = 20;

/** Continues further lines of a text below the first. */
function line(id: string, type: string, text: string): string {
  const number = id.replace(/^0+(?=\d)/, '').padStart(5);
  const start = `${number}  ${type.padEnd(typeWidth)}  `;
  return `${start}${text.replaceAll('\n', `\n${' '.repeat(start.length)}`)}`.trimEnd();
}

function summaryOf(event: RunEvent): string {
  switch (event.type) {
    case 'error':
      return [event.data.error_code, event.data.message].filter(Boolean).join(': ');
    case 'permission_request':
      return `${event.data.tool_name} ${JSON.stringify(event.data.tool_input)}`;
    case 'permission_resolved':
      return [event.data.decision, event.data.message].filter(Boolean).join(': ');
    case 'permission_approved':
      return `${event.data.approvals} of ${event.data.needed}`;
    case 'call_decided':
      return decisionOf(event.data);
    case 'wait_started':
      return waitOf(event.data);
    case 'wait_ended':
      return [`${event.data.name}: ${event.data.outcome.replace('_', ' ')}`, event.data.message]
        .filter(Boolean)
        .join(', ');
    case 'user_question': {
      const labels = (event.data.options ?? []).map(({ label }) => label);
      return labels.length === 0
        ? event.data.question
        : `${event.data.question} (${labels.join(', ')})`;
    }
    case 'user_answered':
      return event.data.declined === true ? 'declined' : String(event.data.answer ?? '');
    case 'run_interrupted':
      return [`${event.data.reason}, attempt ${event.data.attempt}`, discarded(event.data)].join(
        '',
      );
    case 'run_resumed':
      return `${event.data.reason}, attempt ${event.data.attempt}`;
    case 'run_started':
    case 'run_completed':
    case 'run_cancelled':
      return 'recovered' in event.data && event.data.recovered === true ? 'recovered' : '';
    case 'claude_md_changed':
    case 'claude_md_loaded':
    case 'context_file_changed':
    case 'context_file_loaded':
      return event.data.path;
    case 'agent_skills_loaded':
      return event.data.skills.map(({ name }) => name).join(', ');
    case 'connection_used':
      return `${event.data.service} of ${event.data.owner === 'tenant' ? 'the tenant' : 'the end user'}`;
    case 'message_delta':
      return event.data.text;
    case 'run_output':
      return JSON.stringify(event.data.output);
    default:
      return standstillOf(event) ?? JSON.stringify(event.data);
  }
}

/** D-87: which text no longer belongs to the answer. */
function discarded({ discard_from_event_id: id }: { discard_from_event_id?: string | undefined }) {
  return id === undefined ? '' : `, discards the text from ${Number(id)} on`;
}
