import { type Agent, bodyOf } from '../src/agent.ts';
import { Leg } from '../src/leg.ts';
import type { KitMessage } from '../src/lines.ts';
import { perform } from '../src/perform.ts';
import { type RehearsalOptions, RehearsedRun } from '../src/rehearsal/rehearsed-run.ts';

/** What a program did at one seat, as `packages/agent-python/test/transcript.py` prints it. */
export interface Transcript {
  readonly name: string;
  readonly seat: string;
  /** The messages of each leg, as they were sent. */
  readonly legs: readonly (readonly KitMessage[])[];
  readonly text: string;
  readonly outcome: string | undefined;
  readonly state: object;
  readonly tokens: number;
  readonly calls: readonly string[];
  readonly asked: readonly string[];
  readonly doubt: boolean;
}

interface Played {
  readonly name: string;
  readonly make: () => Agent;
  readonly options: RehearsalOptions;
}

/** The transcripts of a program: undisturbed, and with a loss before and after each message and a hand-over at each. */
export async function transcriptsOf(played: Played): Promise<Transcript[]> {
  const undisturbed = await play(played, 'undisturbed');
  const transcripts = [undisturbed];
  for (let message = 0; message < undisturbed.legs.flat().length; message += 1) {
    for (const kind of ['lost before', 'lost after', 'yield after']) {
      transcripts.push(await play(played, `${kind} ${message}`));
    }
  }
  return transcripts;
}

/** `come`: whether one thing that the run waits for comes before each leg, or all of them. */
export async function play(
  { name, make, options }: Played,
  seat: string,
  come: 'one' | 'all' = 'one',
): Promise<Transcript> {
  const run = new RehearsedRun(options);
  const legs: KitMessage[][] = [];
  while (run.end === undefined) {
    const isLost = await playLeg(run, make(), { legs, seat });
    if (isLost && run.end === undefined) run.lose();
    else run.endLeg();
    run.reply(come);
  }
  return {
    name,
    seat,
    legs,
    text: run.text,
    outcome: (run.end as { readonly outcome: string } | undefined)?.outcome,
    state: run.state,
    tokens: run.tokens,
    calls: run.called.map((call) => call.name),
    asked: run.asked.map((asked) => (asked.kind === 'question' ? asked.question : asked.tool)),
    doubt: run.hasDoubt,
  };
}

/** Resolves with whether the leg was lost. */
async function playLeg(
  run: RehearsedRun,
  agent: Agent,
  { legs, seat }: { readonly legs: KitMessage[][]; readonly seat: string },
): Promise<boolean> {
  const before = legs.flat().length;
  const messages: KitMessage[] = [];
  legs.push(messages);
  const lost = Promise.withResolvers<true>();
  let isDead = false;
  const die = () => {
    isDead = true;
    lost.resolve(true);
  };
  const begun = (ref: string) => {
    if (isDead) return;
    leg.receive(run.tell(ref));
  };
  const send = (message: KitMessage) => {
    if (isDead) return;
    const happens = (kind: string) => seat === `${kind} ${before + messages.length - 1}`;
    const copy = JSON.parse(JSON.stringify(message)) as KitMessage;
    messages.push(copy);
    if (happens('lost before')) return die();
    run.record(copy);
    if (happens('lost after')) return die();
    if (happens('yield after')) setImmediate(() => leg.receive({ type: 'yield' }));
    if (message.type === 'call_begin') setImmediate(() => begun(message.call_id));
  };
  const leg = new Leg({ start: run.start(), send });
  const body = bodyOf(agent);
  const ended = leg.run(() => body && perform(leg, body)).then(() => false);
  return Promise.race([ended, lost.promise]);
}
