import type { Json } from '@convoke/sdk';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { jsonSummary, jsonText, maxShownCharacters } from '../data/json-text.ts';
import { Button } from './button.tsx';
import { download } from './copy.tsx';

/** Levels that are open at first. */
const openLevels = 2;
/** Members of one object that are drawn, unless a person decides on the value. */
const maxMembers = 500;
const maxDepth = 40;

/** A value as a tree. Everything in it may come from an agent: it is text, with tricks of direction made visible. */
export function JsonTree(props: {
  readonly value: Json | undefined;
  readonly name?: string | undefined;
}): JSX.Element {
  const { value, name = 'value' } = props;
  const text = jsonText(value);
  if (text.length > maxShownCharacters) {
    return (
      <div class="stack tight">
        <p class="small waiting">
          {`${text.length} characters; showing the first ${maxShownCharacters}.`}
        </p>
        <pre class="json">{text.slice(0, maxShownCharacters)}</pre>
        <div>
          <Button size="small" onClick={() => download(`${name}.json`, text)}>
            Download everything
          </Button>
        </div>
      </div>
    );
  }
  return (
    <div class="json">
      <Branch value={value ?? null} depth={0} whole={false} />
    </div>
  );
}

/**
 * A value that a person decides on: a tree with every member and every level open, or, when it is too long for that,
 * its text in parts. `shown` is the number of parts that are open. Of a long list the first rows are open; the element
 * that opens the others says how many there are (`data-folded`).
 */
export function WholeJson(props: {
  readonly value: Json | undefined;
  readonly parts: readonly string[];
  readonly shown: number;
  readonly onShowNext: () => void;
}): JSX.Element {
  const { value, parts, shown, onShowNext } = props;
  if (parts.length === 1) {
    return (
      <div class="json whole">
        <Branch value={value ?? null} depth={0} whole />
      </div>
    );
  }
  return (
    <div class="stack tight">
      <pre class="json">{parts.slice(0, shown).join('')}</pre>
      {shown < parts.length && (
        <div>
          <Button size="small" onClick={onShowNext}>
            {`Show part ${shown + 1} of ${parts.length}`}
          </Button>
        </div>
      )}
    </div>
  );
}

interface BranchProps {
  readonly value: Json;
  readonly depth: number;
  readonly whole: boolean;
}

function Branch({ value, depth, whole }: BranchProps): JSX.Element {
  if (value === null || typeof value !== 'object') return <Leaf value={value} />;
  const entries = Object.entries(value as Readonly<Record<string, Json | undefined>>);
  if (entries.length === 0) return <span class="muted">{Array.isArray(value) ? '[]' : '{}'}</span>;
  if (whole && Array.isArray(value)) return <Rows entries={entries} depth={depth} />;
  const drawn = whole ? entries : entries.slice(0, maxMembers);
  return (
    <div class={depth === 0 ? '' : 'children'}>
      {drawn.map(([key, member]) => (
        <Member key={key} name={key} value={member ?? null} depth={depth} whole={whole} />
      ))}
      {entries.length > drawn.length && (
        <p class="muted">{`and ${entries.length - drawn.length} more`}</p>
      )}
    </div>
  );
}

/** Rows of a list that are open at first. */
const openRows = 10;

function Rows(props: {
  readonly entries: readonly (readonly [key: string, member: Json | undefined])[];
  readonly depth: number;
}): JSX.Element {
  const { entries, depth } = props;
  const [isOpen, setOpen] = useState(entries.length <= openRows);
  const folded = entries.length - openRows;
  return (
    <div class={depth === 0 ? '' : 'children'}>
      {(isOpen ? entries : entries.slice(0, openRows)).map(([key, member]) => (
        <Member key={key} name={key} value={member ?? null} depth={depth} whole />
      ))}
      {!isOpen && (
        <div data-folded={folded}>
          <Button size="small" kind="quiet" onClick={() => setOpen(true)}>
            {`Show all ${entries.length} rows`}
          </Button>
        </div>
      )}
    </div>
  );
}

function Member(props: BranchProps & { readonly name: string }): JSX.Element {
  const { name, value, depth, whole } = props;
  const isBranch = value !== null && typeof value === 'object' && Object.keys(value).length > 0;
  if (!isBranch || depth >= maxDepth) {
    return (
      <div>
        <span class="key">{name} </span>
        {isBranch ? <code>{jsonText(value)}</code> : <Branch {...props} />}
      </div>
    );
  }
  const count = Object.keys(value).length;
  return (
    <details open={whole || depth + 1 < openLevels}>
      <summary>
        <span class="key">{name} </span>
        <span class="muted">{Array.isArray(value) ? `[${count}]` : `{${count}}`}</span>
      </summary>
      <Branch value={value} depth={depth + 1} whole={whole} />
    </details>
  );
}

/** A string with lines is shown with its lines. */
const inlineCharacters = 120;

function Leaf({ value }: { readonly value: string | number | boolean | null }): JSX.Element {
  if (typeof value !== 'string') return <span class="other">{String(value)}</span>;
  const isLong = value.length > inlineCharacters || value.includes('\n');
  return <span class={`string ${isLong ? 'long' : ''}`}>{isLong ? value : `"${value}"`}</span>;
}

/** One line about a value. */
export function JsonLine({ value }: { readonly value: Json | undefined }): JSX.Element {
  return <span class="mono clip">{jsonSummary(value)}</span>;
}
