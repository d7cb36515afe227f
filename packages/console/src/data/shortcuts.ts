/** The fields of a key press that shortcuts use. */
export interface KeyPress {
  readonly key: string;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
  /** The focus is where letters are text. */
  readonly inText: boolean;
}

export interface KeyStep {
  /** The shortcut that was completed: `g r`, `j`, `mod+k`. */
  readonly chord: string | undefined;
  /** A begun sequence, to be given with the next press. */
  readonly pending: string | undefined;
}

const none: KeyStep = { chord: undefined, pending: undefined };

/** Reads one key press. `g` begins a sequence; letters typed into a field are never shortcuts. */
export function keyStep(press: KeyPress, pending: string | undefined): KeyStep {
  const { key, ctrlKey, metaKey, altKey, inText } = press;
  if (key === 'Shift' || key === 'Control' || key === 'Meta' || key === 'Alt') {
    return { chord: undefined, pending };
  }
  if ((ctrlKey || metaKey) && !altKey) return { ...none, chord: `mod+${key.toLowerCase()}` };
  if (altKey) return none;
  if (inText) return key === 'Escape' ? { ...none, chord: 'Escape' } : none;
  if (pending !== undefined) return { ...none, chord: `${pending} ${key}` };
  if (key === 'g') return { ...none, pending: 'g' };
  return { ...none, chord: key };
}
