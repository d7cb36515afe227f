/** A sign-in in another tab: the tab that asked keeps its page, with everything that was typed. */

type Message =
  | { readonly kind: 'answer'; readonly query: string }
  | { readonly kind: 'taken'; readonly state: string };

const channelName = 'convoke.sign-in';

/** How long the tab that asked may take to say so. A tab in the background is slow. */
const patienceMs = 1_000;

/** Waits for the answer with this `state`, which another tab brings. */
export function answerFromTab(state: string, signal: AbortSignal): Promise<URLSearchParams> {
  const channel = new BroadcastChannel(channelName);
  signal.addEventListener('abort', () => channel.close());
  return new Promise((resolve) => {
    channel.onmessage = ({ data }: MessageEvent<Message>) => {
      if (data.kind !== 'answer') return;
      const answer = new URLSearchParams(data.query);
      if (answer.get('state') !== state) return;
      post(channel, { kind: 'taken', state });
      resolve(answer);
    };
  });
}

/**
 * Offers the answer in the address of this tab to the others. Only the tab that asked can use it, because it holds the
 * proof. Resolves to false when none has asked.
 */
export async function handOver(answer: URLSearchParams): Promise<boolean> {
  const state = answer.get('state');
  const channel = new BroadcastChannel(channelName);
  const taken = new Promise<boolean>((resolve) => {
    channel.onmessage = ({ data }: MessageEvent<Message>) => {
      if (data.kind === 'taken' && data.state === state) resolve(true);
    };
    setTimeout(() => resolve(false), patienceMs);
  });
  post(channel, { kind: 'answer', query: answer.toString() });
  const isTaken = await taken;
  channel.close();
  return isTaken;
}

function post(channel: BroadcastChannel, message: Message): void {
  channel.postMessage(message);
}
