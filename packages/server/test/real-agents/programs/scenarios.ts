// What the programs of this folder share.
import { everyKill } from '@convoke/agent/test';
import { wholeAnswers } from '../../support/model-server/script.ts';

/** A turn with text, two calls at once, one approval with another input and one denial; a question; an end. */
export const work =
  '@@ chat && call look {"at":"a"} && call look {"at":"b"} && call refund {"order":7} && call refund {"order":8} ;; chat && call ask_user {"question":"Why?","options":["late","broken"]} ;; chat && last';

/** The script of an agent inside an agent, in a JSON text that the script of the outer one contains. */
export function nestedTask(order) {
  return `@@ chat \\u0026\\u0026 call refund {\\"order\\":${order}} \\u003b\\u003b last`;
}

export function answer(asked) {
  if (asked.kind === 'question') return 'late';
  const { order } = asked.input;
  return order === 7
    ? { allow: true, input: { ...asked.input, order: 9 } }
    : { allow: false, reason: 'not this one' };
}

/** Of agent.yaml: order 5 is not refunded, order 4 is, and a person decides about any other. */
export const rules = [
  { name: 'small', tools: ['refund'], when: [{ path: '/order', lt: 5 }], effect: 'allow' },
  { name: 'five', tools: ['refund'], when: [{ path: '/order', eq: 5 }], effect: 'deny' },
  { name: 'refunds', tools: ['refund'], effect: 'ask' },
];
export const ruled =
  '@@ call refund {"order":4} && call refund {"order":5} && call refund {"order":7} && call refund {"order":8} ;; last';

/** A turn with a sleep, and one with two calls of agents. */
export const callWork =
  '@@ chat && call sleep {"for":"3d","reason":"cooling off"} ;; call call_researcher {"prompt":"chairs"} && call call_researcher {"prompt":"lamps"} ;; last';
export const calling = {
  prompt: callWork,
  called: ({ input }) =>
    input.prompt === 'chairs' ? 'oak' : { ok: false, code: 'model_error', message: 'It is down.' },
  takes: { researcher: '10m' },
};

/** Counts what the tools of the undisturbed run did. */
export function counted() {
  const done = [];
  return {
    all: done,
    done(name, result) {
      done.push(name);
      return result;
    },
  };
}

/** Ids and times differ from one answer to the next, as the words do. */
export function comparable(text) {
  return wholeAnswers(text.startsWith('{"graph"') ? messagesOf(text) : text)
    .replaceAll(/\b(msg|resp|fc|chatcmpl|run)[-_]\w+/g, '$1')
    .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'id');
}

/** Of a graph's checkpoint, the messages: versions of channels are drawn at random. */
function messagesOf(text) {
  const { channel_values: values } = JSON.parse(JSON.parse(text).graph[''].checkpoint);
  const shown = values.messages.map(({ kwargs }) => [
    kwargs.content,
    kwargs.tool_calls,
    kwargs.name,
  ]);
  return JSON.stringify([shown, Object.keys(JSON.parse(text).graph)]);
}

/** Runs the scenarios that the arguments name, or all, and prints what each did. */
export async function scenarios(effects, all) {
  const wanted = process.argv.slice(2);
  const results = {};
  for (const [name, play] of Object.entries(all)) {
    if (wanted.length > 0 && !wanted.includes(name)) continue;
    let legs = 0;
    const kill = (make, options) => {
      const counting = () => {
        legs += 1;
        return make();
      };
      return everyKill(counting, { comparable, ...options });
    };
    effects.all.length = 0;
    const begun = Date.now();
    try {
      const result = await play(kill);
      const calls = result.calls.map((call) => call.name).sort();
      const { asked, outcome, message, tokens, state, elapsed, started } = result;
      results[name] = {
        text: wholeAnswers(result.text),
        calls,
        asked: asked.map((each) => each.kind),
        outcome,
        message,
        tokens,
        state: JSON.stringify(state),
        elapsed,
        started: started.length,
        done: [...new Set(effects.all)].sort(),
        disturbed: legs - 1,
      };
    } catch (error) {
      results[name] = { failed: String(error?.message).slice(0, 2000) };
    }
    console.error(`${name}: ${legs - 1} disturbed runs in ${Date.now() - begun} ms`);
  }
  console.log(JSON.stringify(results));
}
