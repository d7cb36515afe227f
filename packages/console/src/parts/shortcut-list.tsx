import type { JSX } from 'preact';
import { modifierKey } from '../page/shortcuts.ts';

const keys: readonly (readonly [keys: string, does: string])[] = [
  [`${modifierKey} K`, 'search or go to an id'],
  ['?', 'these keys'],
  ['/', 'filter'],
  ['g h', 'Home'],
  ['g i', 'Approvals'],
  ['g r', 'Runs'],
  ['g s', 'Sessions'],
  ['g a', 'Agents'],
  ['g o', 'Organization'],
  ['j k', 'next and previous row'],
  ['Enter', 'open the row'],
  ['x', 'select an approval or a run'],
  ['.', 'deny or cancel what is selected; in a run, the next error'],
  ['Esc', 'out of a field or a selection, from the card to its row, from a detail to its list'],
  ['a d', 'allow, deny (with the focus on the card)'],
  ['e r', 'edit the input, write a message'],
  ['[ ]', 'previous and next tab of a run'],
  ['f', 'follow the end of a run'],
  ['c', 'copy menu of a run'],
  [`${modifierKey} Enter`, 'send'],
  ['Esc Esc', 'stop the run (in the composer)'],
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
