import { randomBytes, randomInt } from 'node:crypto';
import { type Turn, scriptIn } from './script.ts';

/** A request in no dialect at all: what the script needs to know of it. */
export interface Conversation {
  readonly model: string;
  readonly isStreamed: boolean;
  readonly tools: readonly string[];
  readonly entries: readonly Entry[];
  /** The request as it came, for `probe`. */
  readonly source: string;
}

export type Entry =
  | { readonly role: 'user'; readonly text: string }
  | { readonly role: 'assistant'; readonly text: string }
  | { readonly role: 'tool'; readonly text: string };

/** The parts of the answer, in order. */
export type Piece =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'call'; readonly call: Call }
  | { readonly kind: 'pause'; readonly ms: number }
  | { readonly kind: 'hang' }
  | { readonly kind: 'restart' }
  | { readonly kind: 'cut' };

export interface Call {
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
}

export type Reply =
  | { readonly status: 200; readonly message?: undefined; readonly pieces: readonly Piece[] }
  | { readonly status: number; readonly message?: string | undefined; readonly pieces?: undefined };

/** The server keeps nothing: which turn is due shows in how often the model has answered the script already. */
export function replyTo(conversation: Conversation): Reply {
  const { entries, tools } = conversation;
  const at = entries.findLastIndex(
    (entry) => entry.role === 'user' && scriptIn(entry.text) !== undefined,
  );
  const asked = entries[at];
  const turns = asked?.role === 'user' ? (scriptIn(asked.text) ?? []) : [];
  const cut = cutMessage(entries);
  if (cut !== undefined) return continued(conversation, cut);
  const answered = turnsSince(entries.slice(at + 1));
  const turn = turns[answered] ?? [];
  const [first] = turn;
  if (first?.verb === 'fail') return { status: first.status, message: first.message };
  // Command-line agents ask for titles beside the work, with the prompt in it but no tools.
  if (tools.length === 0 && turn.some(({ verb }) => verb === 'call')) return said('A title');
  if (turns.length === 0) return said('Nothing to play: the prompt holds no script.');
  if (turn.length === 0) return said('The script is over.');
  return { status: 200, pieces: piecesOf(turn, conversation) };
}

/** What was said of the message that the server asks to continue; undefined when it asks nothing like that. */
function cutMessage(entries: readonly Entry[]): string | undefined {
  const [message, request] = entries.slice(-2);
  if (message?.role !== 'assistant' || request?.role !== 'user') return undefined;
  return request.text.startsWith('Your last message was cut off') ? message.text : undefined;
}

/** The rest of the turn: what holds it up is gone. One with `restart` begins again instead. */
function continued(conversation: Conversation, cut: string): Reply {
  const entries = conversation.entries.slice(0, -2);
  const { pieces } = replyTo({ ...conversation, entries });
  if (pieces === undefined) return { status: 400, message: 'There is nothing to continue.' };
  const isRestarted = pieces.some(({ kind }) => kind === 'restart');
  let left = isRestarted ? 0 : cut.length;
  const rest = pieces.flatMap((piece): readonly Piece[] => {
    if (piece.kind === 'hang' || piece.kind === 'cut') return [];
    if (piece.kind !== 'text') return [piece];
    const text = piece.text.slice(left);
    left = Math.max(0, left - piece.text.length);
    return text === '' ? [] : [{ kind: 'text', text }];
  });
  return { status: 200, pieces: rest };
}

/** A turn is everything the model said without being answered in between. */
function turnsSince(entries: readonly Entry[]): number {
  return entries.filter(
    (entry, index) => entry.role === 'assistant' && entries[index - 1]?.role !== 'assistant',
  ).length;
}

function said(text: string): Reply {
  return { status: 200, pieces: words(text) };
}

function piecesOf(turn: Turn, { entries, source }: Conversation): readonly Piece[] {
  return turn.flatMap((step, index): readonly Piece[] => {
    switch (step.verb) {
      case 'say':
        return words(step.text);
      case 'slow':
        return Array.from({ length: step.times }, (_, tick): readonly Piece[] => [
          { kind: 'pause', ms: step.everyMs },
          { kind: 'text', text: `tick ${tick + 1} ` },
        ]).flat();
      case 'call': {
        const id = `call_${entries.length}_${index}`;
        return [{ kind: 'call', call: { id, name: step.tool, input: step.input } }];
      }
      case 'probe':
        return words(`${step.marker}: ${source.includes(step.marker) ? 'yes' : 'no'}`);
      case 'chat':
        return words(chatter());
      case 'last':
        return words(`tool said: ${lastResults(entries).join(' | ')}`);
      case 'fail':
        throw new Error('fail must be the first step of its turn');
      case 'hang':
      case 'cut':
      case 'restart':
        return [{ kind: step.verb }];
    }
  });
}

function chatter(): string {
  const id = randomBytes(3).toString('hex');
  const said = Array.from({ length: randomInt(2, 6) }, () => `w${randomInt(10_000)}`);
  return `[${id} ${said.join(' ')} ${id}:${said.length}]`;
}

function lastResults(entries: readonly Entry[]): readonly string[] {
  const since = entries.findLastIndex((entry) => entry.role === 'assistant');
  return entries.slice(since + 1).flatMap((entry) => (entry.role === 'tool' ? [entry.text] : []));
}

function words(text: string): readonly Piece[] {
  return (text.match(/\s*\S+\s*$|\s*\S+/g) ?? []).map((word) => ({ kind: 'text', text: word }));
}
