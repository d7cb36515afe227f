import { Component, type ComponentChild, type FunctionComponent, h } from 'preact';

/** Draws a component again only when its properties differ, as `isSame` sees it. */
export function memo<P extends object>(
  render: (props: P) => ComponentChild,
  isSame: (before: P, after: P) => boolean,
): FunctionComponent<P> {
  class Memo extends Component<P> {
    override shouldComponentUpdate(next: P): boolean {
      return !isSame(this.props, next);
    }

    override render(): ComponentChild {
      return h(render as FunctionComponent<P>, this.props);
    }
  }
  return Memo as unknown as FunctionComponent<P>;
}
