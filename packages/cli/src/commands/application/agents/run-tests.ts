import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { basename, delimiter, join, relative, resolve } from 'node:path';
import type { Command } from 'commander';
import { exitCodes, Failure } from '../../../failure.ts';
import { globalOptions } from '../../../options/global-options.ts';
import { problemWithNode } from '../../../server.ts';
import { printJson } from '../../../terminal/output.ts';
import { kitPreload, pythonKit } from './kit-path.ts';

const nodeTests = /\.test\.(?:[cm]?js|[cm]?ts)$/;
const pythonTests = /^test.*\.py$/;
/** Packages, bundles, and folders that tools keep for themselves. */
const notOwn = /^(?:node_modules|bundle|__pycache__|\..+)$/;
const depthMax = 8;

/** How the tests of one language ended. */
interface TestOutcome {
  readonly tests: number;
  readonly ok: boolean;
}

interface Testing {
  readonly folder: string;
  /** Names of files, from the folder. */
  readonly files: readonly string[];
  /** What test runners print goes there. */
  readonly output: NodeJS.WriteStream;
  readonly signal: AbortSignal;
}

/**
 * `convoke agents test`: runs the tests of an agent on the Node of this process, which is the server's, or on the
 * Python that its sandbox has (D-477). The shell's `node` may be older, and then finds no test in TypeScript and
 * reports success.
 */
export async function runTests(name: string | undefined, command: Command): Promise<void> {
  const { json = false } = globalOptions(command);
  const folder = folderOf(name);
  const shown = relative(process.cwd(), folder) || '.';
  const files = await filesBelow(folder);
  const forNode = files.filter((path) => nodeTests.test(path));
  const forPython = files.filter((path) => pythonTests.test(basename(path)));
  if (forNode.length + forPython.length === 0) throw noTest(shown, basename(folder));
  const stopping = new AbortController();
  const stop = () => stopping.abort(new Failure('stopped', exitCodes.interrupted));
  process.once('SIGINT', stop);
  const testing = {
    folder,
    output: json ? process.stderr : process.stdout,
    signal: stopping.signal,
  };
  const tested: TestOutcome[] = [];
  if (forNode.length > 0) tested.push(await inNode({ ...testing, files: forNode }));
  if (forPython.length > 0) tested.push(await inPython({ ...testing, files: forPython }));
  stopping.signal.throwIfAborted();
  process.off('SIGINT', stop);
  const tests = tested.reduce((sum, each) => sum + each.tests, 0);
  const ok = tested.every((each) => each.ok);
  if (ok && tests === 0)
    throw emptyTests([...forNode, ...forPython].map((path) => join(shown, path)));
  if (json) printJson({ ok, tests });
  if (!ok) process.exitCode = exitCodes.failed;
}

function folderOf(name: string | undefined): string {
  if (name === undefined) {
    if (existsSync('agent.yaml')) return process.cwd();
    throw new Failure('this folder has no agent.yaml: name an agent', exitCodes.usage);
  }
  const folder = join(process.env['CONVOKE_AGENTS_DIR'] ?? 'agents', name);
  if (existsSync(folder)) return resolve(folder);
  throw new Failure(
    `there is no agent ${folder}: write one with \`convoke agents new ${basename(name)}\``,
  );
}

async function filesBelow(folder: string, path = '', depth = 0): Promise<string[]> {
  const found: string[] = [];
  for (const entry of await readdir(join(folder, path), { withFileTypes: true })) {
    const below = join(path, entry.name);
    if (entry.isFile()) found.push(below);
    else if (entry.isDirectory() && !notOwn.test(entry.name) && depth < depthMax) {
      found.push(...(await filesBelow(folder, below, depth + 1)));
    }
  }
  return found.sort();
}

/** A file of tests is a process of its own, as with `node --test`. */
async function inNode({ folder, files, output, signal }: Testing): Promise<TestOutcome> {
  const problem = problemWithNode(process.versions.node);
  if (problem !== undefined) throw new Failure(problem, exitCodes.usage);
  const { run } = await import('node:test');
  const { spec: Spec } = await import('node:test/reporters');
  // Set in the tests of a person who calls this command from one.
  delete process.env['NODE_TEST_CONTEXT'];
  const execArgv = ['--disable-warning=MODULE_TYPELESS_PACKAGE_JSON', `--import=${kitPreload()}`];
  const paths = files.map((path) => join(folder, path));
  const stream = run({ files: paths, cwd: folder, execArgv, signal, concurrency: true });
  let tests = 0;
  let ok = true;
  // Node reports a file in which it found no test as a test that has the name of the file.
  const count = ({ name, file }: { name: string; file?: string }) => {
    if (name !== file) tests += 1;
  };
  stream.on('test:pass', count);
  stream.on('test:fail', (test) => {
    ok = false;
    count(test);
  });
  for await (const text of stream.pipe(new Spec())) output.write(text as string);
  return { tests, ok };
}

/** Python before 3.12 reports success where it found no test. */
const unittests = `import sys, unittest
result = unittest.main(module=None, argv=["unittest", "discover"], exit=False).result
count = result.testsRun + len(result.skipped)
sys.exit(1 if not result.wasSuccessful() else 0 if count else ${exitCodes.unfinished})`;

async function inPython({ folder, output, signal }: Testing): Promise<TestOutcome> {
  const own = join(folder, '.venv/bin/python3');
  const path = [pythonKit(), process.env['PYTHONPATH'] ?? ''].filter(Boolean).join(delimiter);
  const child = spawn(existsSync(own) ? own : 'python3', ['-B', '-c', unittests], {
    cwd: folder,
    stdio: ['inherit', output, process.stderr],
    env: { ...process.env, PYTHONPATH: path },
  });
  const stop = () => child.kill('SIGINT');
  signal.addEventListener('abort', stop);
  const code = await new Promise<number | null>((ended, failed) => {
    child.on('error', () => failed(new Failure('python3 cannot be started: install it first')));
    child.on('exit', ended);
  });
  signal.removeEventListener('abort', stop);
  const isEmpty = code === exitCodes.unfinished;
  return { tests: isEmpty ? 0 : 1, ok: code === 0 || isEmpty };
}

function noTest(shown: string, name: string): Failure {
  return new Failure(
    `${shown} has no test: write agent.test.ts or test_agent.py beside agent.yaml, or try all losses with \`convoke agents rehearse ${name} <prompt> --kill\``,
  );
}

function emptyTests(paths: readonly string[]): Failure {
  const how = paths.some((path) => path.endsWith('.py'))
    ? 'a test is a method test_… of a unittest.TestCase'
    : "a test is a call of test() from 'node:test'";
  return new Failure(`no test ran: ${paths.join(', ')} has none; ${how}`);
}
