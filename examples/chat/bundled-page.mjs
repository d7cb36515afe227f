import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

/** @param {string} path */
const here = (path) => fileURLToPath(new URL(path, import.meta.url));

/**
 * The page as one script. Any bundler does it; the aliases are only needed in this repository, where the SDK is not
 * installed.
 *
 * @param {Readonly<Record<string, string>>} [others] Packages to use instead of those that the page imports.
 */
export async function bundledPage(others = {}) {
  const bundle = await rolldown({
    input: here('page.jsx'),
    platform: 'browser',
    logLevel: 'silent',
    transform: { define: { 'process.env.NODE_ENV': '"production"' } },
    resolve: {
      alias: {
        ...others,
        '@convoke/sdk/ai-sdk': here('../../packages/sdk/src/ai-sdk.ts'),
        '@convoke/sdk': here('../../packages/sdk/src/index.ts'),
      },
    },
  });
  const { output } = await bundle.generate({ format: 'esm', minify: true });
  await bundle.close();
  return output[0].code;
}
