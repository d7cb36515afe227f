import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { type ScreenName, addressOf } from '../../data/routes.ts';
import { filtersOf, maxViewName, withView, withoutView } from '../../data/saved-views.ts';
import { place } from '../../page/router.ts';
import { settings } from '../../page/settings.ts';
import { Button } from '../button.tsx';
import { FormDialog } from '../dialog.tsx';
import { TextField } from '../field.tsx';

/** Named filters of a list. They are kept in this browser; a link shows the same list to others. */
export function SavedViews({ screen }: { readonly screen: ScreenName }): JSX.Element | null {
  const [isNaming, setNaming] = useState(false);
  const { query, params } = place.value;
  const here = filtersOf(query);
  const mine = settings.views.value.filter((view) => view.screen === screen);
  const isKnown = mine.some((view) => view.query === here);
  if (mine.length === 0 && here === '') return null;
  const addressFor = (filters: string) =>
    addressOf(screen, params, Object.fromEntries(new URLSearchParams(filters)));
  return (
    <nav class="views" aria-label="Saved views">
      {mine.map((view) => (
        <span class="chip" key={view.name}>
          <a
            class="clip"
            href={addressFor(view.query)}
            aria-current={view.query === here ? 'true' : undefined}
          >
            {view.name}
          </a>
          <button
            type="button"
            aria-label={`Remove view ${view.name}`}
            onClick={() => (settings.views.value = withoutView(settings.views.value, view))}
          >
            ×
          </button>
        </span>
      ))}
      {here !== '' && !isKnown && (
        <Button size="small" kind="quiet" onClick={() => setNaming(true)}>
          Save view
        </Button>
      )}
      {isNaming && (
        <NameView
          onClose={() => setNaming(false)}
          onName={(name) => {
            settings.views.value = withView(settings.views.value, { screen, name, query: here });
          }}
        />
      )}
    </nav>
  );
}

function NameView(props: {
  readonly onName: (name: string) => void;
  readonly onClose: () => void;
}): JSX.Element {
  const [name, setName] = useState('');
  return (
    <FormDialog
      title="Save view"
      action="Save"
      isReady={name.trim() !== ''}
      onSubmit={async () => props.onName(name.trim())}
      onClose={props.onClose}
    >
      <TextField
        label="Name"
        value={name}
        onInput={setName}
        max={maxViewName}
        autofocus
        hint="Saved in this browser. To share it, copy the address of this page."
      />
    </FormDialog>
  );
}
