import type { JSX } from 'preact';
import { summaryTitle } from '../data/ask.ts';
import type { InteractionSummary } from '../session/api.ts';

/** The title of a request: the tool with the most telling member of its input, or the question. */
export function RequestTitle({ row }: { readonly row: InteractionSummary }): JSX.Element {
  if (row.kind !== 'permission') return <span class="clip">{summaryTitle(row)}</span>;
  return (
    <span class="clip">
      <code>{summaryTitle(row)}</code>
      {row.tool_input_preview !== undefined && (
        <span class="muted">{` ${row.tool_input_preview}`}</span>
      )}
    </span>
  );
}
