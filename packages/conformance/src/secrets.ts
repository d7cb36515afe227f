/** Every secret that the kit was given or obtained. None of them may appear in a report (D-231). */
export class Secrets {
  readonly #known = new Set<string>();
  static readonly #shortest = 6;

  add(secret: string): string {
    if (secret.length >= Secrets.#shortest) this.#known.add(secret);
    return secret;
  }

  /** The text with every secret replaced, also in the form in which an URL or HTTP Basic has it. */
  hide(text: string): string {
    let hidden = text;
    // The longest first: one may be a part of another.
    for (const secret of [...this.#known].toSorted((a, b) => b.length - a.length)) {
      for (const form of [secret, encodeURIComponent(secret)]) {
        hidden = hidden.replaceAll(form, '[secret]');
      }
    }
    return hidden.replaceAll(/\b(Bearer|Basic) [\w.~+/=-]{6,}/g, '$1 [secret]');
  }
}
