import type { RunRecord } from '@convoke/sdk';
import type { JSX } from 'preact';
import { memo } from '../parts/memo.ts';
import { askOfItem } from '../data/ask.ts';
import { duration } from '../data/formats.ts';
import { jsonText } from '../data/json-text.ts';
import { remedyOf } from '../data/problems.ts';
import type { AskItem, NoteItem, ToolItem, TranscriptItem } from '../data/transcript.ts';
import { isYou } from '../session/actors.ts';
import { listFiles } from '../session/api.ts';
import { useResource, useTenant } from '../session/use.ts';
import { AskCard } from './ask/ask-card.tsx';
import { JsonLine, JsonTree } from './json-tree.tsx';
import { Markdown } from './markdown.tsx';
import { Took } from './time.tsx';

/** Rows in the document; older ones are in the timeline and in the download. */
const maxRows = 500;

/** A run as a conversation: texts, tool calls and requests, in order. */
export function Conversation(props: {
  readonly run: RunRecord;
  readonly items: readonly TranscriptItem[];
  readonly hasEnded: boolean;
}): JSX.Element {
  const { run, items, hasEnded } = props;
  const shown = items.slice(-maxRows);
  const isAnswering = !hasEnded && run.status === 'running' && run.open_waits === undefined;
  return (
    <div class="conversation">
      <div class="turn">
        <span class="who">
          {run.created_by === undefined || isYou(run.created_by) ? 'You' : 'Prompt'}
        </span>
        <div class="what">
          <Prompt run={run} />
        </div>
      </div>
      {items.length > maxRows && (
        <p class="divider">{`${items.length - maxRows} earlier entries: see the timeline`}</p>
      )}
      {shown.map((item, index) => (
        <Entry
          key={item.id}
          isSameVoice={isAgent(item) && isAgent(shown[index - 1])}
          item={item}
          text={item.kind === 'text' ? item.text : ''}
          run={run}
          hasEnded={hasEnded}
          isLast={isAnswering && index === shown.length - 1}
        />
      ))}
      {isAnswering && shown.length === 0 && (
        <div class="turn">
          <span class="who">Agent</span>
          <div class="what caret muted">working</div>
        </div>
      )}
    </div>
  );
}

function isAgent(item: TranscriptItem | undefined): boolean {
  return item?.kind === 'text' || (item?.kind === 'ask' && !isOfServer(item));
}

/** About calls that an interruption left open, the server asks, not the agent. */
function isOfServer({ request }: AskItem): boolean {
  return request.kind === 'question' && request.about !== undefined;
}

function Prompt({ run }: { readonly run: RunRecord }): JSX.Element {
  const { prompt, files = [], ...rest } = run.input;
  if (typeof prompt !== 'string') return <JsonTree value={run.input} name="input" />;
  const ids = Array.isArray(files) ? files.filter((id) => typeof id === 'string') : [];
  return (
    <>
      <div class="said">{prompt}</div>
      {ids.length > 0 && <AttachedFiles run={run} ids={ids} />}
      {Object.keys(rest).length > 0 && (
        <p class="muted small">
          <JsonLine value={rest} />
        </p>
      )}
    </>
  );
}

/** The files of a prompt by their names. One that was deleted, or that the person may not read, is its id. */
function AttachedFiles(props: {
  readonly run: RunRecord;
  readonly ids: readonly string[];
}): JSX.Element {
  const { run, ids } = props;
  const tenant = useTenant();
  const files = useResource(`${tenant.tenantId}/files/${run.session_id}`, () =>
    listFiles(tenant, run.session_id),
  );
  const names = new Map((files.data.value ?? []).map(({ id, name }) => [id, name]));
  return (
    <ul class="tags" aria-label="Attached files">
      {ids.map((id) => (
        <li key={id} class="tag clip">
          {names.get(id) ?? id}
        </li>
      ))}
    </ul>
  );
}

interface EntryProps {
  readonly item: TranscriptItem;
  /** Text grows inside one item, so it is compared separately. */
  readonly text: string;
  readonly run: RunRecord;
  readonly hasEnded: boolean;
  readonly isLast: boolean;
  /** The entry before is the agent's too: its name is not repeated. */
  readonly isSameVoice: boolean;
}

const Entry = memo(
  ({ item, text, run, hasEnded, isLast, isSameVoice }: EntryProps): JSX.Element => {
    const isServer = item.kind === 'ask' && isOfServer(item);
    const voice = <span class="who">{isServer ? 'Convoke' : isSameVoice ? '' : 'Agent'}</span>;
    switch (item.kind) {
      case 'text':
        return (
          <div class="turn">
            {voice}
            <div class="what">
              <Markdown text={text} isOpen={isLast} />
            </div>
          </div>
        );
      case 'tool':
        return <ToolEntry item={item} />;
      case 'ask':
        return (
          <div class="turn">
            {voice}
            <div class="what wide">
              <AskCard ask={askOfItem(item, { ...run, hasEnded })} />
            </div>
          </div>
        );
      case 'note':
        return <NoteEntry item={item} />;
      case 'failure':
        return (
          <div class="turn">
            <span class="who">Error</span>
            <div class="what">
              <div class="note failed-note" data-error tabIndex={-1}>
                <p>{item.message}</p>
                <p class="muted">{remedyOf(item.code)}</p>
              </div>
            </div>
          </div>
        );
    }
  },
  (before, after) =>
    before.item === after.item &&
    before.text === after.text &&
    before.isLast === after.isLast &&
    before.isSameVoice === after.isSameVoice &&
    before.hasEnded === after.hasEnded &&
    before.run.id === after.run.id,
);

function ToolEntry({ item }: { readonly item: ToolItem }): JSX.Element {
  // Most steps have no input: their results say more.
  const input = jsonText(item.input ?? {}) === '{}' ? undefined : item.input;
  const ms =
    item.endedAt === undefined ? undefined : Date.parse(item.endedAt) - Date.parse(item.at);
  return (
    <div class="turn">
      <span class="who">{item.isStep ? 'Step' : 'Tool'}</span>
      <details
        class="tool what wide"
        data-error={item.ok === false ? '' : undefined}
        tabIndex={item.ok === false ? -1 : undefined}
      >
        <summary>
          <code>{item.name}</code>
          <JsonLine value={input ?? (item.isSpoken === true ? undefined : item.output)} />
          <span class="muted small nowrap">
            {item.isAgain && 'again '}
            {item.isCut === true && <span class="failed">interrupted </span>}
            {item.ok === false && <span class="failed">✕ failed </span>}
            {item.isAsked === true ? (
              'waits for permission'
            ) : ms === undefined ? (
              <>
                {'running… '}
                <Took from={item.at} to={undefined} />
              </>
            ) : ms > 0 ? (
              duration(ms)
            ) : (
              ''
            )}
          </span>
        </summary>
        <div class="inside">
          {input !== undefined && (
            <>
              <h4 class="small muted">Input</h4>
              <JsonTree value={input} name={`${item.name}-input`} />
            </>
          )}
          {item.isSpoken === true && <p class="muted small">Its output is the text below.</p>}
          {item.output !== undefined && item.isSpoken !== true && (
            <>
              <h4 class="small muted">Output</h4>
              <JsonTree value={item.output} name={`${item.name}-output`} />
            </>
          )}
        </div>
      </details>
    </div>
  );
}

function NoteEntry({ item }: { readonly item: NoteItem }): JSX.Element {
  if (item.note === 'resumed') return <p class="divider">{keptOf(item)}</p>;
  if (item.note === 'resumed with a changed agent') {
    return <p class="divider">{`${keptOf(item)} The agent was changed in the meantime.`}</p>;
  }
  if (item.note === 'not yielding' || item.note === 'denied by a rule')
    return <p class="divider bad">{item.reason}</p>;
  const why =
    item.reason === 'drained' ? 'The server was restarted' : 'The server stopped unexpectedly';
  const cut = item.hasCut === true ? ' Unfinished text was discarded.' : '';
  const doubt =
    (item.callsInDoubt ?? 0) > 0
      ? ' A tool call may or may not have completed. Your decision is needed.'
      : '';
  return <p class="divider bad">{`Interrupted. ${why}.${cut}${doubt}`}</p>;
}

/** A leg of an agent as code calls its function from the first line: readers shall not fear for the steps above. */
function keptOf({ keptSteps = 0 }: NoteItem): string {
  if (keptSteps === 0) return 'Resumed.';
  if (keptSteps === 1) return 'Resumed. The finished step keeps its result.';
  return `Resumed. ${keptSteps} finished steps keep their results.`;
}
