/** A host or URL that may not or cannot be called. The message may be shown to the caller. */
export class Unreachable extends Error {
  override readonly name: string = 'Unreachable';
}

/** The name leads to no address that may be called, or it is not known: asking later may help. */
export class LookupFailed extends Unreachable {
  override readonly name = 'LookupFailed';
}
