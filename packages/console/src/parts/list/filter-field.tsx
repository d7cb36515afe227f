import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { fieldOfMoment, momentOfField } from '../../data/formats.ts';
import { setQuery } from '../../page/router.ts';
import { settings } from '../../page/settings.ts';
import { useShortcuts } from '../../page/shortcuts.ts';
import { Empty } from '../states.tsx';

/** Typing waits this long before it filters. */
const typingMs = 300;

interface FilterProps {
  /** The field of the address that holds the filter. */
  readonly field: string;
  readonly value: string;
  readonly name: string;
}

/**
 * The words of a field, and what hands them on once typing has stopped. The filter may be written otherwise than it was
 * typed; what was typed since it was handed on is kept.
 */
function useTyped(shown: string, filter: (typed: string) => void) {
  const [typed, setTyped] = useState(shown);
  const handedOn = useRef<string | undefined>(undefined);
  useEffect(() => {
    const own = handedOn.current;
    handedOn.current = undefined;
    setTyped((now) => (own === undefined || own === now ? shown : now));
  }, [shown]);
  useEffect(() => {
    if (typed === shown) return;
    const timer = setTimeout(() => {
      handedOn.current = typed;
      filter(typed);
    }, typingMs);
    return () => clearTimeout(timer);
  }, [typed]);
  return [typed, setTyped] as const;
}

/** Words to filter by. The key `/` goes to the field that says so. */
export function FilterText(
  props: FilterProps & {
    readonly max: number;
    readonly hasKey?: boolean;
    /** The id of a list of suggestions. */
    readonly list?: string;
    /** The filter that the words stand for, if it is another text. */
    readonly toFilter?: (typed: string) => string;
    /** The words are not a filter (yet). */
    readonly isWrong?: boolean;
  },
): JSX.Element {
  const { toFilter = (text: string) => text } = props;
  const [typed, setTyped] = useTyped(props.value, (text) =>
    setQuery({ [props.field]: toFilter(text) }),
  );
  const input = useRef<HTMLInputElement>(null);
  useShortcuts(props.hasKey === true ? { '/': () => input.current?.focus() } : {});
  return (
    <input
      ref={input}
      class="input"
      type="search"
      aria-label={props.name}
      placeholder={props.name}
      maxLength={props.max}
      list={props.list}
      aria-invalid={props.isWrong === true ? 'true' : undefined}
      value={typed}
      onInput={(event) => setTyped(event.currentTarget.value)}
    />
  );
}

/**
 * A moment to filter by: in the zone of the page here, exact in the address, so that a link means the same elsewhere.
 */
export function FilterMoment({ field, value, name }: FilterProps): JSX.Element {
  const zone = settings.timeZone.value;
  const [typed, setTyped] = useTyped(fieldOfMoment(value, zone), (text) =>
    setQuery({ [field]: momentOfField(text, zone) }),
  );
  return (
    <label class="moment">
      {name}
      <input
        class="input"
        type="datetime-local"
        max="9999-12-31T23:59"
        value={typed}
        onInput={(event) => setTyped(event.currentTarget.value)}
      />
    </label>
  );
}

/** The list is empty because of its filters. */
export function NoMatch(props: {
  readonly of: string;
  /** The address without filters. */
  readonly all?: string;
}): JSX.Element {
  return (
    <Empty title={`No matching ${props.of}.`}>
      <a href={props.all ?? location.pathname}>Clear filters</a>
    </Empty>
  );
}
