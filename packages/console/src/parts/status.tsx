import type { JSX } from 'preact';

/** Every state is a glyph and a word, never a colour alone. */
const marks: Readonly<Record<string, readonly [glyph: string, word: string]>> = {
  queued: ['○', 'queued'],
  running: ['◐', 'running'],
  waiting: ['◆', 'waiting'],
  parked: ['◇', 'waiting'],
  cancelling: ['◌', 'cancelling'],
  completed: ['✓', 'completed'],
  failed: ['✕', 'failed'],
  cancelled: ['⊘', 'cancelled'],
  idle: ['○', 'idle'],
  stopping: ['◌', 'stopping'],
  stopped: ['⊘', 'stopped'],
  terminated: ['⊘', 'ended'],
  active: ['✓', 'active'],
  ready: ['✓', 'ready'],
  connected: ['✓', 'connected'],
  missing: ['○', 'not connected'],
  paused: ['⊘', 'paused'],
  disabled: ['⊘', 'disabled'],
  revoked: ['⊘', 'revoked'],
  expired: ['⊘', 'expired'],
  provisioning: ['◐', 'setting up'],
  offboarding: ['◌', 'offboarding'],
  offboarded: ['⊘', 'offboarded'],
  pending: ['○', 'pending'],
  sending: ['◐', 'sending'],
  delivered: ['✓', 'delivered'],
  blocked: ['✕', 'blocked'],
  answered: ['✓', 'answered'],
  started: ['✓', 'started'],
  skipped: ['⊘', 'skipped'],
  refused: ['✕', 'refused'],
};

export function Status(props: {
  readonly of: string;
  readonly label?: string | undefined;
}): JSX.Element {
  const [glyph, word] = marks[props.of] ?? ['·', props.of];
  return (
    <span class={`status ${props.of}`}>
      <span class="glyph" aria-hidden="true">
        {glyph}
      </span>
      {props.label ?? word}
    </span>
  );
}

/** The glyph alone, where the word stands beside it or in the label around it. */
export function StatusMark(props: { readonly of: string }): JSX.Element {
  const [glyph, word] = marks[props.of] ?? ['·', props.of];
  return (
    <span class={`status ${props.of}`} title={word} aria-hidden="true">
      <span class="glyph">{glyph}</span>
    </span>
  );
}
