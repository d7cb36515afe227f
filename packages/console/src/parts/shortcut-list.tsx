import type { JSX } from 'preact';
import { shortcuts } from '../data/shortcut-list.ts';
import { modifierKey } from '../page/shortcuts.ts';

export function shortcutList(): JSX.Element {
  return (
    <dl class="facts">
      {shortcuts.map(([chord, does]) => (
        <>
          <dt>
            <kbd>{chord.replace('Mod', modifierKey)}</kbd>
          </dt>
          <dd>{does}</dd>
        </>
      ))}
    </dl>
  );
}
