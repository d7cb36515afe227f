import type { Artifact, Part } from '@a2a-js/sdk';
import type { Json } from '../../domain/json.ts';
import { parsedJson } from '../parsed-json.ts';

/** More data parts than this are no output, whatever they are. */
const partsMax = 100;
const outputName = 'output';
/** Parts of messages, which belong to no artifact. */
const ofMessages = '';

/** Finds the output of a remote agent among the data of its task (D-568). */
export class ReturnedData {
  readonly #parts = new Map<string, readonly Json[]>();
  #named: string | undefined;
  #isTooMuch = false;

  /** The data of the artifact named `output`, else the only data of the task. */
  get output(): Json | undefined {
    if (this.#named !== undefined) return this.#parts.get(this.#named)?.[0];
    if (this.#isTooMuch) return undefined;
    const [only, other] = [...this.#parts.values()].flat();
    return other === undefined ? only : undefined;
  }

  /** An artifact as it is now, or a part to append to it. */
  takeArtifact({ artifactId, name, parts }: Artifact, how: 'whole' | 'append'): void {
    if (name === outputName) this.#named = artifactId;
    this.#take(artifactId, parts, how);
  }

  takeMessage(parts: readonly Part[]): void {
    this.#take(ofMessages, parts, 'append');
  }

  #take(id: string, parts: readonly Part[], how: 'whole' | 'append'): void {
    const before = how === 'append' ? (this.#parts.get(id) ?? []) : [];
    const found = [...before, ...parts.flatMap(dataIn)];
    if (found.length > partsMax || this.#parts.size > partsMax) this.#isTooMuch = true;
    else if (found.length > 0 || this.#parts.has(id)) this.#parts.set(id, found);
  }
}

function dataIn({ content }: Part): readonly Json[] {
  if (content?.$case !== 'data') return [];
  const { data } = parsedJson.safeParse(content.value);
  return data === undefined ? [] : [data];
}
