import type { ComponentChildren, JSX } from 'preact';
import type { Resource } from '../data/resource.ts';
import { ProblemNote } from './problem.tsx';
import { LoadBar, Skeleton } from './states.tsx';

/** The head of a screen: its title, one line about it, its actions. */
export function Heading(props: {
  readonly title: ComponentChildren;
  readonly children?: ComponentChildren;
  readonly actions?: ComponentChildren;
}): JSX.Element {
  return (
    <header class="heading">
      <div>
        <h1 tabIndex={-1}>{props.title}</h1>
        {props.children}
      </div>
      {props.actions !== undefined && <div class="buttons">{props.actions}</div>}
    </header>
  );
}

/** One answer in all its states. The old one stays while the next is fetched, and when that fails. */
export function Await<T>(props: {
  readonly resource: Resource<T>;
  /** The title of the screen while there is no answer to take it from. */
  readonly title?: string | undefined;
  readonly children: (value: T) => ComponentChildren;
}): JSX.Element {
  const { data, error, isLoading, refresh } = {
    data: props.resource.data.value,
    error: props.resource.error.value,
    isLoading: props.resource.isLoading.value,
    refresh: () => props.resource.refresh(),
  };
  return (
    <>
      <LoadBar on={isLoading && data !== undefined} />
      {data === undefined && props.title !== undefined && <Heading title={props.title} />}
      {error !== undefined && <ProblemNote error={error} retry={refresh} />}
      {data === undefined && error === undefined && <Skeleton />}
      {data !== undefined && props.children(data)}
    </>
  );
}

export function Card(props: {
  readonly title: ComponentChildren;
  readonly aside?: ComponentChildren;
  readonly children: ComponentChildren;
  readonly class?: string | undefined;
}): JSX.Element {
  return (
    <section class={`card ${props.class ?? ''}`}>
      <header>
        <h2>{props.title}</h2>
        {props.aside}
      </header>
      {props.children}
    </section>
  );
}
