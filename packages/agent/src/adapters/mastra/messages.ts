import type { Json } from '../../json.ts';

/** The fields of Mastra's messages that the adapter changes. */
export interface Message {
  readonly role: string;
  readonly content:
    | string
    | readonly { readonly providerOptions?: Readonly<Record<string, Json>> }[];
}

/** Removes the times at which Mastra made the parts: they differ in every leg. */
export function withoutTimes(message: Message): Message {
  const { content } = message;
  if (typeof content === 'string') return message;
  const parts = content.map(({ providerOptions, ...part }) => {
    const { mastra: _, ...rest } = providerOptions ?? {};
    return Object.keys(rest).length > 0 ? { ...part, providerOptions: rest } : part;
  });
  return { ...message, content: parts };
}
