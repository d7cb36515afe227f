import { redactor, resolveReferences } from '../../agents/secret-references.ts';

type Texts = Readonly<Record<string, string>>;

/** A reference that leads nowhere; the message says which, and may be shown to whoever started the run. */
export class Unresolved extends Error {
  override readonly name = 'Unresolved';
}

/** What the references of one leg led to, so that it can be taken out of whatever is told. */
export class References {
  #redact: (text: string) => string = redactor([]);

  /** `where` says whose references they are, for the message about one that leads nowhere. */
  async resolve(where: string, texts: Texts): Promise<Texts> {
    const resolved = await resolveReferences(texts);
    if (!resolved.ok) {
      const advice = resolved.message.includes('${env:')
        ? ' Set it in the environment of the server and start the server again.'
        : '';
      throw new Unresolved(`In ${where}, ${resolved.message}${advice}`);
    }
    const before = this.#redact;
    this.#redact = (text) => resolved.redact(before(text));
    return resolved.values;
  }

  redact(text: string): string {
    return this.#redact(text);
  }
}
