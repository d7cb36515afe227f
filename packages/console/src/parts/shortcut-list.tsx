import type { JSX } from 'preact';
import { modifierKey } from '../page/shortcuts.ts';

const keys: readonly (readonly [keys: string, does: string])[] = [
  [`${modifierKey} K`, 'Search or paste an ID'],
  ['?', 'Keyboard shortcuts'],
  ['/', 'Filter'],
  ['g h', 'Home'],
  ['g i', 'Approvals'],
  ['g r', 'Runs'],
  ['g s', 'Sessions'],
  ['g a', 'Agents'],
  ['g o', 'Organization'],
  ['j k', 'Next and previous row'],
  ['Enter', 'Open row'],
  ['x', 'Select an approval or a run'],
  ['.', 'Deny or cancel the selection; in a run, next error'],
  ['Esc', 'Leave a field, clear the selection, go back to the list'],
  ['a d', 'Allow, deny (card in focus)'],
  ['e r', 'Edit input, write a message'],
  ['[ ]', 'Previous and next tab of a run'],
  ['f', 'Follow the latest output'],
  ['n', 'Go to the next open request in a conversation'],
  ['c', 'Copy menu of a run'],
  [`${modifierKey} Enter`, 'Send message'],
  ['Esc Esc', 'Stop the run (in the composer)'],
];

export function shortcutList(): JSX.Element {
  return (
    <dl class="facts">
      {keys.map(([chord, does]) => (
        <>
          <dt>
            <kbd>{chord}</kbd>
          </dt>
          <dd>{does}</dd>
        </>
      ))}
    </dl>
  );
}
