import type { ComponentChildren, JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { PagedList } from '../data/pages.ts';
import { Button } from '../parts/button.tsx';
import { type Column, PagedTable } from '../parts/list/table.tsx';
import { Heading } from '../parts/page.tsx';
import { useTitle } from '../session/use.ts';

export interface ListScreenProps<T extends object> {
  readonly title: string;
  /** One sentence about the listed items. */
  readonly about: ComponentChildren;
  readonly list: PagedList<T>;
  readonly idOf: (row: T) => string;
  readonly columns: readonly Column<T>[];
  readonly empty: ComponentChildren;
  /** How one is made: the label of the button, and the form that it opens. */
  readonly create?: {
    readonly label: string;
    readonly isAllowed?: boolean;
    readonly form: (close: () => void) => JSX.Element;
  };
  /** Above the list: a secret that is shown once. */
  readonly children?: ComponentChildren;
}

/** A list of resources: a sentence about them, the button that creates one, and the rows. */
export function ListScreen<T extends object>(props: ListScreenProps<T>): JSX.Element {
  const { title, list, idOf, columns, create } = props;
  const [isCreating, setCreating] = useState(false);
  useTitle(title);
  return (
    <>
      <Heading
        title={title}
        actions={
          create === undefined ? undefined : (
            <Button kind="primary" onClick={() => setCreating(true)} isAllowed={create.isAllowed}>
              {create.label}
            </Button>
          )
        }
      >
        <p class="muted">{props.about}</p>
      </Heading>
      {props.children}
      <PagedTable label={title} list={list} idOf={idOf} columns={columns} empty={props.empty} />
      {isCreating && create?.form(() => setCreating(false))}
    </>
  );
}
