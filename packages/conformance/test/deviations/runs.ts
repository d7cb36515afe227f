// Sessions, runs and their events, files and the errors of the application API.
import {
  type Wrong,
  changing,
  forgetting,
  framing,
  matches,
  pretending,
  without,
} from './making.ts';

const aRun = /^GET \/v1\/sessions\/\w+\/runs\/\w+$/;
const aSession = /^GET \/v1\/sessions\/\w+$/;
const anyType = /.+/;
/** Those of interactions only with a filter: the kit needs the pending ones to get on. */
const aList =
  /^GET .*\/(?:(?:workspaces|agents|sessions|runs|files|tenants)(?:\?|$)|interactions\?)/;

function withoutKeys(): ReturnType<Wrong['make']> {
  return forgetting(({ json }) => {
    if (json !== undefined) delete json['idempotency_key'];
  });
}

function withoutCursor(): ReturnType<Wrong['make']> {
  return forgetting(({ headers }) => delete headers['last-event-id']);
}

export const wrongRuns: readonly Wrong[] = [
  {
    what: 'a session of another agent',
    failing: ['a session is opened with an agent by name'],
    make: () => changing(/^POST \/v1\/sessions$/, (body) => ({ ...body, agent_name: 'other' })),
  },
  {
    what: 'a session that does not say whether it takes files',
    failing: ['a session has id, agent_name and session_files_supported'],
    make: () => without(aSession, 'session_files_supported'),
  },
  {
    what: 'a session with another id',
    failing: [
      'a session that was opened can be read',
      'ids of sessions and runs are strings that work in paths',
    ],
    make: () => changing(aSession, (body) => ({ ...body, id: 'other' })),
  },
  {
    what: 'lists of nothing',
    failing: [
      'each projection has organization_id and tenant_id',
      'the projections contain the workspace of the calls',
      'the agents of the kit are listed by name',
      'an opened session is in the list',
      'the runs of a session are listed',
      'the status filter finds answered interactions',
      'an uploaded file is listed',
      'the tenants of the organization are listed',
    ],
    make: () =>
      changing(aList, (body) =>
        Object.fromEntries(
          Object.entries(body).map(([name, part]) => [name, Array.isArray(part) ? [] : part]),
        ),
      ),
  },
  {
    what: 'a resume that does nothing',
    failing: ['a resumed session takes runs again'],
    make: () => pretending(/\/resume$/, 200),
  },
  {
    what: 'keys that mean nothing',
    failing: [
      'the same key and body return the same session',
      'a key with another body is a conflict',
      'ten equal requests at once open one session',
      'the same key and body return the same run, also after its end',
      'keys from the beginning name the same session and run at the end',
      'a one-shot with the same key streams the same run',
    ],
    make: withoutKeys,
  },
  {
    what: 'a run without an id',
    failing: ['a run is started with an input and has an id'],
    make: () => without(/^POST .*\/runs$/, 'id'),
  },
  {
    what: 'a run without a status',
    failing: ['a run has an id and a status'],
    make: () => without(aRun, 'status'),
  },
  {
    what: 'a run that executes for ever',
    failing: [
      'a run that was started can be read until after its end',
      'run_completed is the end, and the record says so',
      'a run that executes is cancelled',
      'a run that fails ends with error',
      'an answer lets the run continue with it',
    ],
    make: () => changing(aRun, (body) => ({ ...body, status: 'running' })),
  },
  {
    what: 'a run that ends before it has begun',
    failing: ['run_started comes first, and the run has not ended'],
    make: () => changing(aRun, (body) => ({ ...body, status: 'completed' })),
  },
  {
    what: 'a good run with an error',
    failing: ['a run that completed has no error'],
    make: () => changing(aRun, (body) => ({ ...body, error_code: 'none' })),
  },
  {
    what: 'an error without a code',
    failing: ['the record of a run that failed has code and message'],
    make: () => without(aRun, 'error_code'),
  },
  {
    what: 'a cancel that changes a run which has ended',
    failing: ['cancelling a run that has ended does not change it'],
    make: () => {
      let isCancelled = false;
      return {
        request(request) {
          isCancelled ||= matches(/\/cancel$/, request);
          return undefined;
        },
        ...changing(aRun, (body) => ({ ...body, ...(isCancelled && { status: 'cancelled' }) })),
      };
    },
  },
  {
    what: 'a cancel that completes',
    failing: [
      'a cancelled run ends with run_cancelled',
      'a run that waits for a person can be cancelled',
      'a reader that is up to date gets what comes next',
      'run_cancelled carries run_id',
    ],
    make: () => framing(/run_cancelled/, /run_cancelled/g, 'run_completed'),
  },
  {
    what: 'a completion that is called an error',
    failing: [
      'an agent is invoked once and its run streamed',
      'a denied permission lets the run continue, too',
    ],
    make: () => framing(/run_completed/, /run_completed/g, 'error'),
  },
  {
    what: 'frames without ids',
    failing: ['events are a stream of frames with id, event and data'],
    make: () => framing(anyType, /^id: .*\n/m, ''),
  },
  {
    what: 'events without a time',
    failing: ['every event has the fields of the envelope'],
    make: () => framing(anyType, '"created_at":', '"at":'),
  },
  {
    what: 'times in another zone',
    failing: ['times of events are RFC 3339 in UTC and do not go back'],
    make: () => framing(anyType, /("created_at":"[^"]*)Z"/, '$1+02:00"'),
  },
  {
    what: 'events of another session',
    failing: ['every event names its session and its run'],
    make: () => framing(anyType, /"session_id":"\w+"/, '"session_id":"other"'),
  },
  {
    what: 'event lines of another type',
    failing: ['event and id lines repeat type and id'],
    make: () => framing(anyType, /^event: .*$/m, 'event: message'),
  },
  {
    what: 'data of another run',
    failing: ['run_started carries run_id', 'run_completed carries run_id'],
    make: () => framing(/run_\w+/, /("data":\{"run_id":)"\w+"/, '$1"other"'),
  },
  {
    what: 'an error without words',
    failing: ['error carries a message'],
    make: () => framing(/error/, '"message":', '"words":'),
  },
  {
    what: 'words without a model',
    failing: ['message_delta carries text, framework and model'],
    make: () => framing(/message_delta/, '"model":', '"modell":'),
  },
  {
    what: 'words in another script',
    failing: ['the deltas of an echo contain its prompt'],
    make: () => framing(/message_delta/, /[^\n -~]/g, '?'),
  },
  {
    what: 'one id for all events',
    failing: ['every event of a run has an id of its own'],
    make: () => framing(anyType, /^id: .*$/m, 'id: 1'),
  },
  {
    what: 'a replay from the beginning',
    failing: [
      'replay starts strictly after every id',
      'a run continues when its reader leaves',
      'an id of no event is refused',
      'the terminal id answers 204',
    ],
    make: withoutCursor,
  },
  {
    what: 'frames that are made anew for each reader',
    failing: ['a later reader gets the same frames as the first'],
    make: () => {
      let frames = 0;
      return {
        frame: (frame) => frame.replace(/^data: \{/m, () => `data: {"n":${(frames += 1)},`),
      };
    },
  },
  {
    what: 'a terminal event that comes twice',
    failing: ['the terminal event is one of three, once, and the last'],
    make: () => framing(/run_completed|error/, /[^]+/, '$&$&'),
  },
  {
    what: 'an event of a harness without its session',
    failing: ['types that the specification does not name keep the envelope'],
    make: () => framing(/scripted\..+/, /"session_id":"\w+"/, '"session_id":"other"'),
  },
  {
    what: 'whoami that is not there',
    failing: ['whoami answers 200 in the selected workspace'],
    make: () => pretending(/\/v1\/whoami$/, 404),
  },
  {
    what: 'whoami without a word about files',
    failing: ['whoami says whether files can be attached'],
    make: () => without(/\/v1\/whoami$/, 'file_attachments_enabled'),
  },
  {
    what: 'a file without an id',
    failing: ['a file is prepared and gets an id'],
    make: () => without(/^POST .*\/files$/, 'id'),
  },
  {
    what: 'an upload that is refused',
    failing: ['the bytes of a file are uploaded'],
    make: () => pretending(/^PUT .*\/content$/, 413),
  },
  {
    what: 'a file whose bytes are read as text',
    failing: ['the same bytes come back'],
    make: () => ({
      answer(answer, request) {
        if (!matches(/^GET .*\/content$/, request)) return;
        const text = Buffer.from(answer.text, 'latin1').toString();
        answer.text = Buffer.from(text).toString('latin1');
      },
    }),
  },
  {
    what: 'a file that stays',
    failing: ['a deleted file is gone'],
    make: () => pretending(/^DELETE .*\/files\/\w+$/, 204),
  },
  {
    what: 'JSON that calls itself a page',
    failing: ['responses of the application API are JSON'],
    make: () => ({
      answer({ headers }) {
        headers['content-type'] = 'text/html';
      },
    }),
  },
  {
    what: 'pages of events that lack the last one',
    failing: ['pages of JSON have the events of the stream'],
    make: () => changing(/\/events\?limit=/, (body) => void (body['events'] as unknown[]).pop()),
  },
  {
    what: 'frames that have names in any case',
    failing: ['frames without names carry the same events'],
    make: () => ({
      frame: (frame) => (/^event: /m.test(frame) ? frame : frame.replace(/^/, 'event: message\n')),
    }),
  },
];
