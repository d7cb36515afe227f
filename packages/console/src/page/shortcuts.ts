import { useEffect, useRef } from 'preact/hooks';
import { keyStep } from '../data/shortcuts.ts';
import { settings } from './settings.ts';

type Commands = Readonly<Record<string, () => unknown>>;

/** What people call the key that goes with letters: the command key on machines of Apple. */
export const modifierKey: string = /^(Mac|iP)/.test(navigator.platform) ? '⌘' : 'Ctrl';

/** The newest screen or dialog is asked first. */
const layers: { readonly commands: () => Commands }[] = [];
/** Where letters are text, or choose something. */
const fields = 'input:not([type="checkbox"], [type="radio"]), textarea, select';
/** A begun sequence is forgotten after this time. */
const sequenceMs = 1500;

/** Keys of a screen, while it is there. Every one of them has a button too. */
export function useShortcuts(commands: Commands): void {
  const latest = useRef(commands);
  latest.current = commands;
  useEffect(() => {
    const layer = { commands: () => latest.current };
    layers.push(layer);
    return () => {
      layers.splice(layers.indexOf(layer), 1);
    };
  }, []);
}

/** Whether the focus is where letters are text. */
export function isInText(element: EventTarget | null): element is HTMLElement {
  return element instanceof HTMLElement && (element.matches(fields) || element.isContentEditable);
}

export function startShortcuts(): void {
  let pending: string | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  document.addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.isComposing) return;
    const inText = isInText(event.target);
    const { key, ctrlKey, metaKey, altKey } = event;
    const step = keyStep({ key, ctrlKey, metaKey, altKey, inText }, pending);
    clearTimeout(timer);
    pending = settings.hasShortcuts.value ? step.pending : undefined;
    if (pending !== undefined) timer = setTimeout(() => (pending = undefined), sequenceMs);
    if (step.chord === undefined) return;
    // The palette stays when the letters are turned off: it needs a modifier.
    if (!settings.hasShortcuts.value && !step.chord.startsWith('mod+')) return;
    if (document.querySelector('dialog[open]') !== null && step.chord !== 'mod+k') return;
    const command = commandOf(step.chord);
    if (command === undefined) return;
    event.preventDefault();
    command();
  });
}

function commandOf(chord: string): (() => unknown) | undefined {
  for (const layer of layers.toReversed()) {
    const command = layer.commands()[chord];
    if (command !== undefined) return command;
  }
  return undefined;
}
