import { randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { z } from 'zod';
import type { Call, Conversation } from './conversation.ts';

/** One provider's wire format. */
export interface Dialect {
  readonly name: string;
  /** Of the path, without its query. */
  readonly path: RegExp;
  keyOf(headers: IncomingHttpHeaders): string | undefined;
  read(body: unknown, path: string): Conversation;
  /** The body of an answer that is not a 200. */
  error(status: number, message: string): unknown;
  frames(model: string): Frames;
  whole(answer: WholeAnswer): unknown;
}

/** A streamed answer: each call returns the bytes of one part. */
export interface Frames {
  open(): string;
  text(text: string): string;
  call(call: Call): string;
  close(): string;
}

export interface WholeAnswer {
  readonly model: string;
  readonly text: string;
  readonly calls: readonly Call[];
}

/** The same for every answer, so that a test can count the requests to the model. */
export const usage = { input: 100, output: 10 } as const;

/** An id of its own for each answer: some clients take two answers of one id for the same. */
export function newId(prefix: string): string {
  return `${prefix}${randomBytes(6).toString('hex')}`;
}

export function bearerOf({ authorization }: IncomingHttpHeaders): string | undefined {
  return authorization?.replace(/^Bearer /, '');
}

export function event(data: unknown, name?: string): string {
  const line = name === undefined ? '' : `event: ${name}\n`;
  return `${line}data: ${JSON.stringify(data)}\n\n`;
}

const blocks = z.array(z.looseObject({ type: z.string().optional(), text: z.string().optional() }));

/** Content is a text, or blocks of which those with text count. */
export function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  const read = blocks.safeParse(content);
  return read.success ? read.data.map((block) => block.text ?? '').join('') : '';
}

/** Arguments travel in two halves, as real ones travel in many. */
export function halves(text: string): readonly string[] {
  const middle = Math.ceil(text.length / 2);
  return [text.slice(0, middle), text.slice(middle)].filter((half) => half !== '');
}

export const usualReasons: Readonly<Record<number, string>> = {
  400: 'The request is not one this model takes.',
  401: 'The API key is not valid.',
  403: 'The API key may not use this model.',
  404: 'The model does not exist.',
  429: 'Too many requests.',
  500: 'The model server failed.',
  529: 'The model server is overloaded.',
};
