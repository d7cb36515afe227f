import type { Json } from '../../json.ts';

/** A message of Mastra, as far as it is changed. */
export interface Message {
  readonly role: string;
  readonly content:
    | string
    | readonly { readonly providerOptions?: Readonly<Record<string, Json>> }[];
}

/** Mastra notes when it made a part, which is another time in every leg. */
export function withoutTimes(message: Message): Message {
  const { content } = message;
  if (typeof content === 'string') return message;
  const parts = content.map(({ providerOptions, ...part }) => {
    const { mastra: _, ...rest } = providerOptions ?? {};
    return Object.keys(rest).length > 0 ? { ...part, providerOptions: rest } : part;
  });
  return { ...message, content: parts };
}
