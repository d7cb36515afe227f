import { redactor, resolveReferences } from '../../agents/secret-references.ts';

type Texts = Readonly<Record<string, string>>;

/** A reference that cannot be resolved. The message names it and may be shown to the caller. */
export class Unresolved extends Error {
  override readonly name = 'Unresolved';
}

/** Resolves the references of one leg and redacts their values from texts. */
export class References {
  #redact: (text: string) => string = redactor([]);

  /** `where` names the place of the references in `agent.yaml`, for error messages. */
  async resolve(where: string, texts: Texts): Promise<Texts> {
    const resolved = await resolveReferences(texts);
    if (!resolved.ok) {
      const advice = resolved.message.includes('${env:')
        ? ' Set it in the environment of the server and restart the server.'
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
