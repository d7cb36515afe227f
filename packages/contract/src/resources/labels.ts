import { z } from 'zod';
import { jsonObject } from '../json.ts';
import { limits } from '../limits.ts';
import { text } from '../text.ts';
import { repeatable } from './page.ts';

/** D-252: a backend's own names for a run or a session. */
export const labelKeyPattern = /^[a-z][a-z0-9_.-]{0,63}$/;

const labelsDescription =
  `Your own names, such as a ticket or a customer: at most ${limits.labelsMax}, keys of a-z, 0-9, \`_\`, \`.\` and \`-\`, ` +
  `values of at most ${limits.labelValueMaxCharacters} characters.`;

/** In a response. */
export const labels = z.record(z.string(), z.string()).meta({
  description: 'Labels by key.',
  examples: [{ ticket: 'OPS-1204' }],
});

export type Labels = z.infer<typeof labels>;

/** In a request. The server checks keys and values, so that the refusal is `invalid_label` and names the key. */
export const givenLabels = jsonObject.meta({
  description: labelsDescription,
  additionalProperties: { type: 'string' },
  examples: [{ ticket: 'OPS-1204' }],
});

/** Changes of labels: `null` removes one, the others stay. */
export const labelChanges = jsonObject.meta({
  description: `${labelsDescription} They are merged by key; null removes one.`,
  additionalProperties: { anyOf: [{ type: 'string' }, { type: 'null' }] },
  examples: [{ ticket: 'OPS-1204', customer: null }],
});

/** `label=key:value`, several times: all must hold. */
export const labelQuery = repeatable(
  text({ max: limits.labelTextMaxCharacters }).refine(isLabelText, { error: 'must be key:value' }),
  limits.labelsMax,
).meta({ description: 'Has this label, as `key:value`. Repeat it for several: all must match.' });

function isLabelText(label: string): boolean {
  const colon = label.indexOf(':');
  return labelKeyPattern.test(label.slice(0, Math.max(colon, 0)));
}

/** The key and value of a label in a query. */
export function splitLabel(label: string): { readonly key: string; readonly value: string } {
  const colon = label.indexOf(':');
  return { key: label.slice(0, colon), value: label.slice(colon + 1) };
}

/** D-330: display name of a client or a person, for people who read the record. */
export const actorName = z.string().meta({
  description: 'Name of the client, or name or else email address of the person, as it is now.',
  examples: ['Quickstart'],
});

/** Who made a run or a session. */
export const createdBy = z
  .object({ kind: z.enum(['client', 'person']), id: z.string(), name: actorName.optional() })
  .meta({ description: 'The automation client or the person that made it.' });
