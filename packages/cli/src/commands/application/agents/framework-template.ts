import type { Template } from './template.ts';

interface Framework {
  /** The agent, as in docs/guides/agent-frameworks.md: a test compares them. */
  readonly agent: string;
  /** Versions that the adapter is tested with. */
  readonly dependencies: Readonly<Record<string, string>>;
  readonly overrides?: Readonly<Record<string, string>>;
}

/** A bundle starts faster and needs no packages beside it (D-186). The kit is the server's. */
const bundle = `node -e "import('@convoke/agent/bundle')"`;

/**
 * An agent of a framework, with the packages it needs, the key of its model by reference, and the network to ask it
 * (D-181).
 */
export function frameworkTemplate({ agent, ...packages }: Framework): Template {
  const manifest = (name: string) => ({
    name,
    private: true,
    type: 'module',
    scripts: { test: 'convoke agents test', bundle },
    ...packages,
    devDependencies: { rolldown: '1.2.15' },
  });
  return {
    needs: { packages: true, variable: 'OPENAI_API_KEY' },
    files: (name) => ({
      'agent.yaml': `schema: 1
name: ${name}
description: Helps with orders
framework: code
env: { OPENAI_API_KEY: "\${env:OPENAI_API_KEY}" }
sandbox: { network: [api.openai.com] }
${bundledEntry}`,
      'agent.ts': agent,
      'agent.test.ts': testOfAgent,
      'package.json': `${JSON.stringify(manifest(name), undefined, 2)}\n`,
      '.gitignore': 'bundle/\nnode_modules/\n',
    }),
  };
}

const bundledEntry = `# After npm run bundle, which makes it start faster:
# entry: bundle/agent.js
`;

const testOfAgent = `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rehearse } from '@convoke/agent/test';

// It asks the real model.
const skip = process.env.OPENAI_API_KEY === undefined && 'set OPENAI_API_KEY';

test('it answers, also where nothing is allowed', { skip }, async () => {
  const { default: clerk } = await import('./agent.ts');
  const { outcome } = await rehearse(clerk, {
    prompt: 'Refund order 7.',
    answer: (asked) => (asked.kind === 'permission' ? false : 'It was late.'),
  });
  assert.equal(outcome, 'completed');
});
`;
