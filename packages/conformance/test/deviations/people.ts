// Interactions, and what a restart may not change.
import {
  type Json,
  type Wrong,
  afterRestart,
  bytesOf,
  changing,
  forgetting,
  framing,
  textOf,
} from './making.ts';

const pending = /^GET .*\/interactions$/;
const interactionsOf = (body: Json) => body['interactions'] as Json[];

function withEach(change: (interaction: Json) => void): ReturnType<Wrong['make']> {
  return changing(pending, (body) => interactionsOf(body).forEach(change));
}

export const wrongInteractions: readonly Wrong[] = [
  {
    what: 'an agent that asks nothing',
    failing: ['a question and a request are announced'],
    make: () =>
      forgetting(({ json }) => {
        if (typeof json?.['agent_name'] === 'string') json['agent_name'] = 'conformance-echo';
      }),
  },
  {
    what: 'answers that are not announced',
    failing: ['an answer and a decision are announced'],
    make: () => framing(/user_answered|permission_resolved/, /[^]+/, ''),
  },
  {
    what: 'a question without words',
    failing: ['user_question has request_id, key and question'],
    make: () => framing(/user_question/, '"question":', '"asked":'),
  },
  {
    what: 'a request without a tool',
    failing: ['permission_request has key, tool_name and tool_input'],
    make: () => framing(/permission_request/, '"tool_name":', '"tool":'),
  },
  {
    what: 'another answer than was given',
    failing: ['user_answered has the key of the question and the answer'],
    make: () => framing(/user_answered/, '"blue"', '"red"'),
  },
  {
    what: 'a decision that is not told',
    failing: ['permission_resolved has key and decision'],
    make: () => framing(/permission_resolved/, '"decision":', '"decided":'),
  },
  {
    what: 'a question that stays in the list',
    failing: ['a waiting question is listed, an answered one is not'],
    make: () => {
      let first: string | undefined;
      return {
        answer(answer, { method, path }) {
          if (!pending.test(`${method} ${path}`)) return;
          const body = JSON.parse(textOf(answer)) as Json;
          if (interactionsOf(body).length > 0) first ??= bytesOf(body);
          answer.text = first ?? answer.text;
        },
      };
    },
  },
  {
    what: 'a record without its key',
    failing: ['a pending interaction has an interaction_key'],
    make: () => withEach((each) => delete each['interaction_key']),
  },
  {
    what: 'a record with another key',
    failing: ['the listed record has the key of the event'],
    make: () => withEach((each) => (each['interaction_key'] = 'other')),
  },
  {
    what: 'another input in the record of a permission',
    failing: ['the record of a permission shows the input of its event'],
    make: () => withEach((each) => (each['tool_input'] = { path: 'other.txt' })),
  },
];

/** The service only says that it was restarted, and deviates from then on. */
export const wrongRestarts: readonly Wrong[] = [
  {
    what: 'a history that is written anew',
    failing: ['ended runs are replayed byte for byte'],
    make: () => afterRestart(framing(/message_delta/, '"text":', '"text" :')),
  },
  {
    what: 'cursors of before that mean nothing',
    failing: ['a reader resumes after the last event of before'],
    make: () => afterRestart(forgetting(({ headers }) => delete headers['last-event-id'])),
  },
  {
    what: 'keys of before that mean nothing',
    failing: ['keys of before refer to the same resources'],
    make: () =>
      afterRestart(
        forgetting(({ json }) => {
          if (json !== undefined) delete json['idempotency_key'];
        }),
      ),
  },
  {
    what: 'a question that is gone',
    failing: ['a question of before is answered after'],
    make: () => afterRestart(changing(pending, () => ({ interactions: [] }))),
  },
  {
    what: 'a question that is asked once more',
    failing: ['a question is announced again only as replayed'],
    make: () => afterRestart(framing(/user_question/, /[^]+/, '$&$&')),
  },
  {
    what: 'a file with other bytes',
    failing: ['a file of before has the same bytes'],
    make: () =>
      afterRestart({
        answer(answer, { method, path }) {
          if (method === 'GET' && path.endsWith('/content')) answer.text += '\0';
        },
      }),
  },
  {
    what: 'a run that was not restarted at all',
    failing: ['a run that executed ends with recovered'],
    make: () => afterRestart({}),
  },
  {
    what: 'words that change',
    failing: ['a run that continues says every word once'],
    make: () => afterRestart(framing(/message_delta/, '"text":"', '"text":"-')),
  },
];
