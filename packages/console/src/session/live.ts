import { ConvokeError, type NoticeRecord } from '@convoke/sdk';
import { type ReadonlySignal, signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { type FeedChannel, type FeedMessage, type FeedState, followFeed } from '../data/feed.ts';
import { followEvents } from './api.ts';
import { readAccessAgain } from './access.ts';
import type { TenantScope } from './tenant-clients.ts';
import { ExchangeRefused } from './tokens.ts';
import { inBackground } from '../data/in-background.ts';

const feedState = signal<FeedState>('connecting');
/** Whether the page hears of changes at this moment. */
export const liveState: ReadonlySignal<FeedState> = feedState;

/** `undefined`: notices may have been missed, read everything again. */
type Listener = (notice: NoticeRecord | undefined) => void;
const listeners = new Set<Listener>();

const maxPauseMs = 15_000;

/**
 * Follows the feed of a tenant until the returned function is called. `say` tells the person that their role has
 * changed.
 */
export function goLive(scope: TenantScope, say: (text: string) => void): () => void {
  const stop = new AbortController();
  const name = `convoke.feed.${scope.tenantId}`;
  const tell = (notice: NoticeRecord | undefined) => {
    for (const listener of listeners) listener(notice);
  };
  feedState.value = 'connecting';
  const following = followFeed(
    {
      lock: (hold, abort) => navigator.locks.request(name, { signal: abort }, hold),
      channel: channelNamed(name),
      connect: (after, options) => followEvents(scope, after, options),
      pause: (failures, abort) =>
        pause(Math.min(maxPauseMs, 500 * 2 ** Math.min(failures, 6)), abort),
      isCursorLost: (error) =>
        error instanceof ConvokeError &&
        (error.code === 'cursor_expired' || error.code === 'invalid_last_event_id'),
      isFinal: (error) =>
        (error instanceof ConvokeError && [401, 403].includes(error.status ?? 0)) ||
        (error instanceof ExchangeRefused && error.isFinal),
    },
    {
      onNotice: tell,
      onState: (state) => {
        feedState.value = state;
        // What happened before the first notice has no cursor: the lists are read again once.
        if (state === 'live') tell(undefined);
      },
      onLost: () => tell(undefined),
      // The server ends the connections of a person whose role has changed (D-791).
      onAccess: () => readAccessAgain(scope, { say, onRole: () => tell(undefined) }),
    },
    stop.signal,
  );
  inBackground(following);
  return () => stop.abort();
}

function channelNamed(name: string): FeedChannel {
  const channel = new BroadcastChannel(name);
  return {
    post: (message) => channel.postMessage(message),
    listen: (receive) => {
      const hear = (event: MessageEvent<FeedMessage>) => receive(event.data);
      channel.addEventListener('message', hear);
      return () => {
        channel.removeEventListener('message', hear);
        channel.close();
      };
    },
  };
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, ms);
    function done() {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      removeEventListener('online', done);
      resolve();
    }
    signal.addEventListener('abort', done);
    // The network is back: no reason to wait on.
    addEventListener('online', done);
  });
}

/** Calls back on every notice of the tenant while the component is there. */
export function useNotices(listener: Listener): void {
  const latest = useRef(listener);
  latest.current = listener;
  useEffect(() => {
    const hear: Listener = (notice) => latest.current(notice);
    listeners.add(hear);
    return () => {
      listeners.delete(hear);
    };
  }, []);
}

/** How often a list or a number is read again while notices keep arriving (D-156). */
const refreshMs = 1000;

/** How often a list asks for a change that no notice tells. */
const quietMs = 10_000;

/** Calls `refresh` now and then while it is needed and the page is seen. */
export function useRefreshWhile(isNeeded: () => boolean, refresh: () => unknown): void {
  const latest = useRef({ isNeeded, refresh });
  latest.current = { isNeeded, refresh };
  useEffect(() => {
    const timer = setInterval(() => {
      if (!document.hidden && latest.current.isNeeded()) latest.current.refresh();
    }, quietMs);
    return () => clearInterval(timer);
  }, []);
}

/** Calls `refresh` soon after a notice that concerns it, at most once a second. */
export function useRefreshOnNotice(
  concerns: (notice: NoticeRecord) => boolean,
  refresh: () => unknown,
): void {
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const last = useRef(0);
  useNotices((notice) => {
    if (notice !== undefined && !concerns(notice)) return;
    if (timer.current !== undefined) return;
    const wait = Math.max(0, last.current + refreshMs - Date.now());
    timer.current = setTimeout(() => {
      timer.current = undefined;
      last.current = Date.now();
      refresh();
    }, wait);
  });
  useEffect(() => () => clearTimeout(timer.current), []);
}
