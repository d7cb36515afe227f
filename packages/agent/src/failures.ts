/** The step failed: its error is its result, in this leg and in every later one. */
export class StepFailed extends Error {
  override readonly name = 'StepFailed';
  readonly step: string;
  /** The name of the error that the step threw. */
  readonly reason: string;

  constructor(
    step: string,
    { name, message }: { readonly name: string; readonly message: string },
  ) {
    super(message);
    this.step = step;
    this.reason = name;
  }
}

/**
 * It is not known whether the step ran, and it is not repeated (D-164). The message is the answer of a person, if one
 * was asked.
 */
export class InDoubt extends Error {
  override readonly name = 'InDoubt';
  readonly step: string;

  constructor(step: string, note: string) {
    super(note);
    this.step = step;
  }
}

/** A rule, or a person whom a rule had asked, did not allow the step. It did not run. */
export class Denied extends Error {
  override readonly name = 'Denied';
  readonly step: string;
  /** The words of the rule or of the person; absent if the person gave none. */
  readonly reason?: string;

  constructor(step: string, reason: string | null) {
    super(reason ?? 'not allowed');
    this.step = step;
    if (reason !== null) this.reason = reason;
  }
}

/** The agent uses the kit in a way that cannot work. The message says what to do. */
export class Misuse extends Error {
  override readonly name = 'Misuse';
}

/** A model request failed. The message is the error of the provider. */
export class ModelFailed extends Error {
  override readonly name = 'ModelFailed';
}
