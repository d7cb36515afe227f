/** Messages between the tabs of one browser about the sign-in. */
type TabMessage = 'signed-in' | 'signed-out';

export function tellTabs(message: TabMessage): void {
  channel()?.postMessage(message);
}

let isListening = false;

/** Calls back on messages of the other tabs; the first call counts. */
export function listenToTabs(hear: (message: TabMessage) => void): void {
  if (isListening) return;
  isListening = true;
  const listener = channel();
  if (listener === undefined) return;
  listener.onmessage = ({ data }: MessageEvent<TabMessage>) => hear(data);
}

function channel(): BroadcastChannel | undefined {
  return typeof BroadcastChannel === 'undefined'
    ? undefined
    : new BroadcastChannel('convoke.session');
}
