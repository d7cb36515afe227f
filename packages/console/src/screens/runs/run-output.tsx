import type { Json } from '@convoke/sdk';
import type { JSX } from 'preact';
import { jsonText } from '../../data/json-text.ts';
import { CopyButton } from '../../parts/copy.tsx';
import { JsonTree } from '../../parts/json-tree.tsx';
import { Card } from '../../parts/page.tsx';

/** What the agent returned, which the server has checked. */
export function RunOutput({ output }: { readonly output: Json }): JSX.Element {
  const copy = <CopyButton text={jsonText(output)} label="Copy the output" />;
  return (
    <Card title="Output" aside={copy}>
      <div class="card-body">
        <JsonTree value={output} name="output" />
      </div>
    </Card>
  );
}
