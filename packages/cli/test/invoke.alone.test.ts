// `convoke invoke` as a script uses it, against a real development server.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { manyProcessesMs, openCommandLine, parsedLines } from './command-line.ts';

vi.setConfig({ testTimeout: manyProcessesMs });

const lasting = `schema: 1
name: lasting
description: Continues until it is cancelled
framework: scripted
script:
  - repeat: { times: 1000, steps: [{ sleep_ms: 500 }] }
`;

const typed = `framework: scripted
input_schema: { type: object, properties: { ticket: { type: integer }, prompt: { type: string } } }
output_schema: { type: object, required: [ticket] }
script:
  - say: 'Read {{input.ticket}}: {{prompt}}'
  - output: { ticket: '{{input.ticket}}' }
`;

const { server, convoke } = await openCommandLine(async (place) => {
  await mkdir(join(place, 'agents/lasting'));
  await writeFile(join(place, 'agents/lasting/agent.yaml'), lasting);
  await mkdir(join(place, 'agents/typed'));
  await writeFile(join(place, 'agents/typed/agent.yaml'), typed);
});

describe('convoke invoke', () => {
  test('sends an object with --input, and prints the output behind the text (D-568)', async () => {
    const file = join(server.place, 'ticket.json');
    await writeFile(file, '{"ticket": 7}');
    for (const input of ['{"ticket": 7}', `@${file}`]) {
      const { code, stdout } = await convoke.run(['invoke', 'typed', 'Hm?', '--input', input]);
      expect([code, stdout]).toEqual([0, 'Read 7: Hm?\n{\n  "ticket": "7"\n}\n']);
    }
    const refused = await convoke.run(['invoke', 'typed', '--input', '{"ticket": "x"}']);
    expect([refused.code, refused.stderr]).toEqual([
      expect.not.stringMatching('0'),
      expect.stringContaining('/input/ticket must be integer'),
    ]);
    for (const wrong of [['--input', '[7]'], ['--input', '@missing.json'], []]) {
      const { code, stderr } = await convoke.run(['invoke', 'typed', ...wrong]);
      expect([code, stderr]).toEqual([
        2,
        expect.stringContaining(wrong.length > 0 ? '' : '--input'),
      ]);
    }
  });

  test('reads a prompt from standard input for -, as much as a server takes', async () => {
    const invoke = ['invoke', 'typed', '-', '--input', '{"ticket": 7}'];
    const { code, stdout } = await convoke.run(invoke, { input: 'Hm?\nOak\n' });
    expect([code, stdout]).toEqual([0, expect.stringContaining('Read 7: Hm?\nOak\n{')]);
    for (const [input, problem] of [
      ['\n', 'standard input has no prompt'],
      ['x'.repeat(1024 * 1024 + 1), 'the prompt in standard input is larger than 1 MiB'],
    ] as const) {
      const refused = await convoke.run(invoke, { input });
      expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining(problem)]);
    }
  });

  test('shows the schemas of an agent, and output and version of a run', async () => {
    const shown = await convoke.run(['agents', 'show', 'typed']);
    expect(shown.stdout).toMatch(/\ninput:\n\{[^]*"ticket"[^]*\noutput:\n\{[^]*"required"/);
    const { id, agent_digest: digest = '' } = await convoke
      .json<{ id: string }>('invoke', 'typed', '--input', '{"ticket": 8}', '--detach')
      .then(({ id: run }) =>
        vi.waitFor(async () => {
          const read = await convoke.json<{ id: string; status: string; agent_digest?: string }>(
            'runs',
            'show',
            run,
          );
          expect(read.status).toBe('completed');
          return read;
        }, 20_000),
      );
    const run = await convoke.run(['runs', 'show', id]);
    expect(run.stdout).toContain(digest.slice(0, 8));
    expect(run.stdout).toContain('"ticket": "8"');
    const { runs } = await convoke.json<{ runs: { id: string }[] }>(
      'runs',
      '--digest',
      digest.slice(0, 8),
    );
    expect(runs.map((each) => each.id)).toContain(id);
  });

  test('attaches files to the run that it starts, and those that are in the session', async () => {
    const paths = ['first.txt', 'second.txt'].map((name) => join(server.place, name));
    for (const path of paths) await writeFile(path, 'words');
    const both = paths.flatMap((path) => ['--file', path]);
    const { code, stdout } = await convoke.run(['invoke', 'echo', 'Look', ...both, '--json']);
    expect(code).toBe(0);
    const { session_id = '', run_id = '' } = parsedLines(stdout)[0] ?? {};
    const { files } = await convoke.json<{ files: NamedFile[] }>('files', 'ls', session_id);
    expect(files.map(({ name }) => name).toSorted()).toEqual(['first.txt', 'second.txt']);
    const started = await convoke.json<{ input: { files: string[] } }>('runs', 'show', run_id);
    expect(started.input.files.toSorted()).toEqual(files.map(({ id }) => id).toSorted());
    const again = [
      'invoke',
      'echo',
      'Again',
      '--session',
      session_id,
      '--file',
      files[0]?.id ?? '',
    ];
    const second = parsedLines((await convoke.run([...again, '--json'])).stdout)[0]?.run_id ?? '';
    expect(await convoke.json('runs', 'show', second)).toMatchObject({
      input: { files: [files[0]?.id] },
    });
  });

  test('learns of a file that does not exist before anything is created', async () => {
    const typed = await convoke.run(['invoke', 'slow', 'Look', '--file', 'missing.txt']);
    expect(typed).toMatchObject({ stdout: '', code: 2 });
    expect(typed.stderr).toBe('convoke: there is no file missing.txt\n');
    expect((await convoke.run(['invoke', 'slow', 'Look', '--file', '.'])).stderr).toContain(
      'not a file',
    );
    expect(await convoke.json('sessions', '--agent', 'slow')).toEqual({ sessions: [] });
  });

  test.each(['--detach', '--no-wait'])(
    'starts a run with %s and does not follow it',
    async (word) => {
      const { stdout, stderr, code } = await convoke.run(['invoke', 'lasting', 'Hello', word]);
      expect(code).toBe(0);
      const [, session = '', run = ''] = /^session +(\S+)\nrun +(\S+)\n$/.exec(stdout) ?? [];
      expect(stderr).toBe(`follow the run with: convoke events ${session} ${run} --follow\n`);
      expect((await convoke.json('runs', 'show', run))['status']).toMatch(/^(pending|running)$/);
      await convoke.json('runs', 'cancel', run);
      const both = await convoke.run(['invoke', 'lasting', 'Hello', word, '--answer', '1']);
      expect(both).toMatchObject({ stdout: '', code: 2 });
    },
  );

  test.each([
    [
      'allows',
      ['--approve', 'allow', '--answer', '2'],
      0,
      'write_file: allowed',
      'Thank you, Friend.',
    ],
    ['denies', ['--approve', 'deny', '--answer', 'Boss'], 0, 'write_file: denied', 'you, Boss.'],
    ['cancels', ['--approve', 'fail', '--answer', '1'], 4, 'needs approval', 'you, Captain.'],
    [
      'leaves',
      ['--unattended', '--answer', '1'],
      7,
      'to run write_file; answer with',
      'you, Captain.',
    ],
    ['refuses', ['--approve', 'allow', '--answer', '9'], 7, 'no option 9', 'You said: Hello'],
  ])('%s what its options say', async (...[, options, expected, remark, answer]) => {
    const { stdout, stderr, code } = await convoke.run(['invoke', 'demo', 'Hello', ...options]);
    expect({ code, stderr }).toEqual({ code: expected, stderr: expect.stringContaining(remark) });
    expect(stdout).toContain(answer);
  });

  test('shows the files that the agent wrote, with the command that downloads each', async () => {
    const path = join(server.place, 'attached.txt');
    await writeFile(path, 'words');
    const allowed = ['--approve', 'allow', '--answer', '1'];
    const { stderr } = await convoke.run(['invoke', 'demo', 'Hello', '--file', path, ...allowed]);
    const shown = /^note\.txt \((\d+) bytes\)\n {2}download with: convoke (.*)\nsession /m;
    const [, size, command = ''] = shown.exec(stderr) ?? [];
    expect({ size, stderr }).toEqual({
      size: String('Captain was here, in run 1.\n'.length),
      stderr: expect.not.stringContaining('attached.txt'),
    });
    await convoke.run(command.split(' '));
    expect(await readFile(join(server.place, 'note.txt'), 'utf8')).toBe(
      'Captain was here, in run 1.\n',
    );
    const denied = ['--approve', 'deny', '--answer', '1'];
    expect((await convoke.run(['invoke', 'demo', 'Hello', ...denied])).stderr).not.toContain(
      'download with',
    );
  });

  test('leaves a run that takes longer than its timeout', async () => {
    const { stderr, code } = await convoke.run(['invoke', 'lasting', 'Hello', '--timeout', '1s']);
    expect({ code, stderr }).toEqual({
      code: 7,
      stderr: expect.stringMatching(/not ended after 1 s\nfollow the run with: convoke events /),
    });
  });
});

interface NamedFile {
  readonly id: string;
  readonly name: string;
}
