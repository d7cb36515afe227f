/** A host or URL that may not or cannot be called. The message may be shown to the caller. */
export class Unreachable extends Error {
  override readonly name: string = 'Unreachable';
}

/** It is not known whether the host has an address: asking later may help. */
export class LookupFailed extends Unreachable {
  override readonly name = 'LookupFailed';
}
