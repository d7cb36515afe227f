import { type Signal, useSignal } from '@preact/signals';
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { useShortcuts } from '../page/shortcuts.ts';
import { Button } from './button.tsx';

/** The end counts as in view when at most this much of it is hidden. */
const nearEndPx = 48;
/** Room above a request that is longer than the pane. */
const gapPx = 12;
/** A card counts as in view when this much of it is. */
const seenPx = 60;

export interface FollowedLogProps {
  /** Whether the end is kept in view while the log grows. Scrolling up turns it off, returning to the end on. */
  readonly follow: Signal<boolean>;
  /** The agent is answering: only then there is something new at the end. */
  readonly isLive: boolean;
  /** It scrolls on its own, in the height that it is given; otherwise with the page. */
  readonly ownPane?: boolean | undefined;
  readonly children: ComponentChildren;
}

/** A conversation that keeps its newest part in view, and says where an open request is when it is not. */
export function FollowedLog(props: FollowedLogProps): JSX.Element {
  const { follow, isLive, ownPane = false, children } = props;
  const frame = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const place = useSignal<LogPlace>({ isEndHidden: false, request: undefined });
  const pane = useRef<LogPane | undefined>(undefined);
  useLayoutEffect(() => {
    const scroller = frame.current?.closest<HTMLElement>('[data-scroller]');
    if (content.current === null || scroller === null || scroller === undefined) return;
    pane.current = new LogPane({ scroller, content: content.current, follow, place });
    return () => pane.current?.close();
  }, []);
  // A request that has just been opened or answered may be drawn now.
  useEffect(() => pane.current?.look());
  const toRequest = () => pane.current?.showRequest();
  const toEnd = () => pane.current?.showEnd();
  useShortcuts({ n: toRequest, f: () => (follow.value ? (follow.value = false) : toEnd()) });
  const { request } = place.value;
  const isEndHidden = isLive && place.value.isEndHidden;
  return (
    <div class={`log ${ownPane ? 'own-pane' : ''}`}>
      <div
        class="log-scroll"
        ref={frame}
        data-scroller={ownPane ? '' : undefined}
        tabIndex={ownPane ? 0 : undefined}
        role="log"
        aria-live="off"
        aria-label="Conversation"
      >
        <div ref={content} class="log-content">
          {children}
        </div>
      </div>
      {(request !== undefined || isEndHidden) && (
        <div class="log-chips">
          {request !== undefined && (
            <Button size="small" kind="primary" onClick={toRequest}>
              {`◆ Needs you ${request === 'above' ? '↑' : '↓'}`} <kbd>n</kbd>
            </Button>
          )}
          {isEndHidden && (
            <Button size="small" onClick={toEnd}>
              ↓ Latest
            </Button>
          )}
        </div>
      )}
    </div>
  );
}

interface LogPlace {
  /** The end is below the visible part. */
  readonly isEndHidden: boolean;
  /** Where the nearest open request is, when none is in view. */
  readonly request: 'above' | 'below' | undefined;
}

interface PaneParts {
  readonly scroller: HTMLElement;
  readonly content: HTMLElement;
  readonly follow: Signal<boolean>;
  readonly place: Signal<LogPlace>;
}

/**
 * Watches which part of a log is visible. It measures when something scrolled or changed its size, never by a timer.
 */
class LogPane {
  readonly #parts: PaneParts;
  readonly #sizes = new ResizeObserver(() => this.#resized());
  readonly #scrolled = () => this.#scroll();
  #lastTop: number;

  constructor(parts: PaneParts) {
    this.#parts = parts;
    const { scroller, content } = parts;
    this.#lastTop = scroller.scrollTop;
    scroller.addEventListener('scroll', this.#scrolled, { passive: true });
    this.#sizes.observe(content);
    this.#sizes.observe(scroller);
  }

  close(): void {
    this.#parts.scroller.removeEventListener('scroll', this.#scrolled);
    this.#sizes.disconnect();
  }

  showEnd(): void {
    const { follow } = this.#parts;
    follow.value = true;
    this.#toEnd();
    this.look();
  }

  /**
   * The place counts from now on, not from the scroll event of the next frame: a reader may scroll up before it. Of a
   * request that is longer than the pane, the beginning is shown: its end alone does not say what it is about.
   */
  #toEnd(): void {
    const { scroller } = this.#parts;
    scroller.scrollTop = scroller.scrollHeight;
    const [request] = this.#requests();
    if (request !== undefined) {
      const { top, bottom } = request.getBoundingClientRect();
      const start = this.#topOfView();
      // What was said after it has scrolled it away: that is followed.
      const isInView = bottom > start + seenPx;
      if (isInView && top < start) scroller.scrollTop += top - start;
    }
    this.#lastTop = scroller.scrollTop;
  }

  /** Where the visible part begins: below what stays in place while the page scrolls. */
  #topOfView(): number {
    const { scroller } = this.#parts;
    const covered = scroller.querySelector(':scope > .top')?.getBoundingClientRect().height ?? 0;
    return scroller.getBoundingClientRect().top + covered + gapPx;
  }

  /** Brings an open request into view and gives it the focus, so that its keys work. */
  showRequest(): void {
    const [first] = this.#requests();
    if (first === undefined) return;
    first.scrollIntoView({ block: 'nearest' });
    first.focus({ preventScroll: true });
  }

  look(): void {
    const { scroller, content, place } = this.#parts;
    const view = scroller.getBoundingClientRect();
    const isEndHidden = this.#hiddenBelow() > nearEndPx && content.childElementCount > 0;
    const request = whereabouts(this.#requests(), view);
    const known = place.peek();
    if (known.isEndHidden === isEndHidden && known.request === request) return;
    place.value = { isEndHidden, request };
  }

  #requests(): HTMLElement[] {
    return [...this.#parts.content.querySelectorAll<HTMLElement>('[data-request="open"]')];
  }

  #hiddenBelow(): number {
    const { scroller, content } = this.#parts;
    return content.getBoundingClientRect().bottom - scroller.getBoundingClientRect().bottom;
  }

  /** Only a reader moves it up: while it follows, the page itself moves it down. */
  #scroll(): void {
    const { scroller, follow } = this.#parts;
    const isUp = scroller.scrollTop < this.#lastTop - 1;
    this.#lastTop = scroller.scrollTop;
    const isAtEnd = this.#hiddenBelow() <= nearEndPx;
    if (isAtEnd) follow.value = true;
    else if (isUp) follow.value = false;
    this.look();
  }

  #resized(): void {
    if (this.#parts.follow.peek()) this.#toEnd();
    this.look();
  }
}

function whereabouts(requests: readonly HTMLElement[], view: DOMRect): LogPlace['request'] {
  const boxes = requests.map((request) => request.getBoundingClientRect());
  const isSeen = boxes.some(
    ({ top, bottom }) => bottom > view.top + seenPx && top < view.bottom - seenPx,
  );
  const [first] = boxes;
  if (isSeen || first === undefined) return undefined;
  return first.top < view.top ? 'above' : 'below';
}
