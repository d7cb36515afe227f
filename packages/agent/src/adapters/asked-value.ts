import { current } from '../current.ts';
import type { Json } from '../json.ts';

/**
 * Asks a person the question that a framework stopped for. The question is the string, the `question` or `message` of
 * an object, with its `options`, or the JSON of any other value. Without a value it names the tool or the graph.
 * Returns undefined if the person declines.
 */
export function askFor(value: Json | undefined, waiting: string): Promise<string | undefined> {
  const { question, options } = questionOf(value, waiting);
  return current().ctx.ask(question, options.length > 0 ? { options } : {});
}

interface Question {
  readonly question: string;
  readonly options: readonly string[];
}

function questionOf(value: Json | undefined, waiting: string): Question {
  if (value === undefined || value === null || value === '') {
    return { question: `${waiting} waits for an answer.`, options: [] };
  }
  if (typeof value === 'string') return { question: value, options: [] };
  if (typeof value === 'object' && !Array.isArray(value)) {
    const { question, message, options } = value as Readonly<Record<string, Json | undefined>>;
    const text = [question, message].find((each) => typeof each === 'string' && each !== '');
    const offered = Array.isArray(options) ? options.filter(isLabel) : [];
    if (typeof text === 'string') return { question: text, options: offered };
  }
  return { question: JSON.stringify(value), options: [] };
}

function isLabel(value: Json): value is string {
  return typeof value === 'string' && value !== '';
}
