import { redactor, resolveReferences } from '../../agents/secret-references.ts';
import type { LegConnections } from '../../ports/connections/leg-connections.ts';

type Texts = Readonly<Record<string, string>>;

/** A reference that cannot be resolved. The message names it and may be shown to the caller. */
export class Unresolved extends Error {
  override readonly name = 'Unresolved';
}

/** Resolves the references of one leg and redacts their values from texts. */
export class References {
  readonly #connections: LegConnections | undefined;
  readonly #added = new Set<string>();
  #redact: (text: string) => string = redactor([]);

  constructor(connections: LegConnections | undefined) {
    this.#connections = connections;
  }

  /** The accounts of the leg; absent for an agent that declares none. */
  get connections(): LegConnections | undefined {
    return this.#connections;
  }

  /** Removes a further secret from texts, from now on (D-603). */
  add(secret: string): void {
    if (this.#added.has(secret)) return;
    this.#added.add(secret);
    const before = this.#redact;
    const own = redactor([secret]);
    this.#redact = (text) => own(before(text));
  }

  /** `where` names the place of the references in `agent.yaml`, for error messages. */
  async resolve(where: string, texts: Texts): Promise<Texts> {
    const resolved = await resolveReferences(texts, { connections: this.#connections });
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
