// What deploy/ promises holds of the server it starts: settings, routes, times, and the metrics that are asked for.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { operationList } from '@convoke/contract';
import { readConfig, settingTable } from '@convoke/server/config';
import { describe, expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { z } from 'zod';
import { createProgram } from '../packages/cli/src/program.ts';
import { metricsPath } from '../packages/server/src/http/metrics.ts';
import { type Container, composeServers, kubernetesServers } from './deployed-servers.ts';
import { promqlProblems } from './promql.ts';
import { hasPromtool, promtoolProblems } from './promtool.ts';
import { files, root, textOf } from './repository.ts';

const port = Number(settingTable.CONVOKE_PORT.fallback);
const paths = new Set<string>([...operationList.map(({ path }) => path), metricsPath]);
const servers: readonly Container[] = [...composeServers(), ...kubernetesServers()];
const dockerfile = textOf('deploy/Dockerfile').replaceAll('\\\n', ' ');

test.each(files(/^deploy\/.*\.(ya?ml|json)$/))('%s is a document', (path) => {
  const documents = parseAllDocuments(textOf(path), { merge: true });
  expect(Array.from(documents).flatMap(({ errors, warnings }) => [...errors, ...warnings])).toEqual(
    [],
  );
});

test('every setting that is named anywhere is one', () => {
  const named = files(/^deploy\//).flatMap((path) =>
    Array.from(textOf(path).matchAll(/CONVOKE_[A-Z0-9_]+/g), ([name]) => `${path}: ${name}`),
  );
  expect(named.length).toBeGreaterThan(10);
  expect(named.filter((line) => !((line.split(': ')[1] ?? '') in settingTable))).toEqual([]);
});

test('every server that is described is looked at', () => {
  expect(servers.map(({ name }) => name.replace(/^\S+ /, ''))).toEqual([
    'api',
    'worker',
    'migrate',
    'convoke',
    'convoke-api',
    'convoke-migrate',
    'convoke-worker',
  ]);
});

describe.each(servers)(
  '$name',
  ({ env, args, image, ports, probes, graceSeconds, pauseSeconds, mayGainPrivileges }) => {
    test('starts with settings that the server takes', () => {
      const config = readConfig({ ...imageEnvironment(), ...env, ...roleOf(args) });
      expect(config.port).toBe(port);
      expect(config.host).toBe('0.0.0.0');
    });

    test('runs a command that there is, with options that it has', async () => {
      const [name = '', ...rest] = args.length === 0 ? imageCommand() : args;
      const { commands } = await createProgram();
      const command = commands.find((known) => known.name() === name);
      const options = command?.options.map(({ long }) => long);
      for (const option of rest.filter((word) => word.startsWith('--'))) {
        expect(options).toContain(option);
      }
      expect(command?.name()).toBe(name);
      expect(image).toMatch(/^(\S+\/)?convoke(:|$)/);
    });

    test('is asked at its port, at paths that it routes', () => {
      for (const asked of ports) expect(asked).toBe(port);
      for (const path of probes) expect(paths).toContain(path);
    });

    test('cannot gain privileges', () => {
      expect(mayGainPrivileges).toBe(false);
    });

    test('is given the time that a drain takes', () => {
      if (args[0] === 'migrate') return expect(probes).toEqual([]);
      const drainSeconds = Number(settingTable.CONVOKE_DRAIN_SECONDS.fallback);
      expect(graceSeconds ?? 0).toBeGreaterThan(drainSeconds + (pauseSeconds ?? 0));
    });
  },
);

describe('the image', () => {
  test('is made of files that there are, and that the builder gets', () => {
    const ignored = textOf('.dockerignore').split('\n');
    const sources = [...dockerfile.matchAll(/^COPY (?!--from)(.+)$/gm)].flatMap(([, words = '']) =>
      words.trim().split(/\s+/).slice(0, -1),
    );
    expect(sources.length).toBeGreaterThan(5);
    for (const source of sources) {
      expect([source, existsSync(join(root, source))]).toEqual([source, true]);
      const isSent = ignored.includes(`!${source}`) || ignored.includes(`!${source.split('/')[0]}`);
      expect([source, isSent]).toEqual([source, true]);
    }
  });

  test('has the Node that the repository is tested with, and names it exactly', () => {
    const [, base] = /^ARG BASE=(\S+)$/m.exec(dockerfile) ?? [];
    const [version] = /24\.\d+\.\d+/.exec(textOf('packages/launch/src/node-runtime.mjs')) ?? [];
    expect(base).toBe(`node:${version}-bookworm-slim`);
    const stages = [...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, name]) => name);
    expect(stages).toEqual(['${BASE}', '${BASE}']);
  });

  test('sets what the guide recommends for memory', () => {
    const [, command = ''] =
      /^(MALLOC_.+) npx convoke serve$/m.exec(textOf('docs/guides/operate.md')) ?? [];
    const recommended = command.split(' ');
    expect(recommended).toHaveLength(3);
    const [, set = ''] = /^ENV (.+)$/m.exec(dockerfile) ?? [];
    const inImage = set.split(/\s+/).filter((pair) => pair.startsWith('MALLOC_'));
    expect(inImage).toEqual(recommended);
  });

  test('belongs to an ordinary user, and says how it is', () => {
    const users = [...dockerfile.matchAll(/^USER (\S+)$/gm)].map(([, user]) => user);
    expect(users).toEqual(['node']);
    const [, path] = /^HEALTHCHECK .*?\}(\/\w+)`/m.exec(dockerfile) ?? [];
    expect(paths).toContain(path);
    expect(dockerfile).toContain(`EXPOSE ${port}`);
  });
});

describe('metrics that are asked for', () => {
  const dashboard = parse(textOf('deploy/grafana/convoke.json')) as {
    readonly panels: readonly {
      readonly id: number;
      readonly title: string;
      readonly targets?: readonly { readonly expr: string }[];
    }[];
  };
  const alerts = parse(textOf('deploy/prometheus/alerts.yaml')) as {
    readonly groups: readonly {
      readonly rules: readonly { readonly alert: string; readonly expr: string }[];
    }[];
  };
  const rules = alerts.groups.flatMap(({ rules: own }) => own);

  test.each(
    dashboard.panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => [title, expr])),
  )('by the dashboard are there: %s', (_title, expr = '') => {
    expect(promqlProblems(expr)).toEqual([]);
  });

  test.each(rules.map(({ alert, expr }) => [alert, expr]))('by %s are there', (_alert, expr) => {
    expect(promqlProblems(expr ?? '')).toEqual([]);
  });

  test('a query for a metric or a label that is not there is found', () => {
    expect(promqlProblems('sum(convoke_gone_total)')).toEqual(['convoke_gone_total']);
    expect(promqlProblems('sum by (tenant) (convoke_runs{state="ready"})')).toEqual(['tenant']);
    expect(promqlProblems('convoke_runs{phase="ready", job=~"$job"}')).toEqual(['phase']);
    expect(promqlProblems('rate(convoke_append_seconds[5m])')).toEqual(['convoke_append_seconds']);
  });

  test.runIf(hasPromtool)('promtool accepts the alerts and the configuration', () => {
    const at = (name: string) => join(root, 'deploy/prometheus', name);
    expect(promtoolProblems(['check', 'rules', at('alerts.yaml')])).toEqual([]);
    const config = ['check', 'config', '--syntax-only', at('prometheus.yaml')];
    expect(promtoolProblems(config)).toEqual([]);
    expect(promtoolProblems(['check', 'rules', at('prometheus.yaml')])).not.toEqual([]);
  });

  test('panels have an id each', () => {
    const ids = dashboard.panels.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
  });
});

test('every resource that the kustomization names is there', () => {
  for (const path of files(/^deploy\/kubernetes\/.*kustomization\.yaml$/)) {
    const { resources = [] } = parse(textOf(path)) as { resources?: string[] };
    for (const resource of resources) {
      expect(existsSync(join(root, path, '..', resource))).toBe(true);
    }
  }
});

test('a network policy covers every pod, and opens the port of the server only', () => {
  const policies = Array.from(
    parseAllDocuments(textOf('deploy/kubernetes/network-policy.yaml')),
    (document) => policy.parse(document.toJS()),
  );
  const opened = policies.flatMap(({ spec }) => spec.ingress.flatMap((rule) => rule.ports));
  expect(new Set(opened.map((rule) => rule.port))).toEqual(new Set([port]));
  const components = policies.flatMap(({ spec }) => {
    const { matchLabels, matchExpressions = [] } = spec.podSelector;
    expect(matchLabels).toMatchObject({ 'app.kubernetes.io/name': 'convoke' });
    return [matchLabels['app.kubernetes.io/component'], ...matchExpressions];
  });
  // That of the API, all others, and all for what they reach.
  const others = { key: 'app.kubernetes.io/component', operator: 'NotIn', values: ['api'] };
  expect(components).toEqual(['api', undefined, others, undefined]);
  expect(policies.map(({ spec }) => spec.policyTypes)).toEqual([
    ['Ingress'],
    ['Ingress'],
    ['Egress'],
  ]);
});

const policy = z.object({
  kind: z.literal('NetworkPolicy'),
  spec: z.object({
    podSelector: z.object({
      matchLabels: z.record(z.string(), z.string()),
      matchExpressions: z.array(z.unknown()).optional(),
    }),
    policyTypes: z.array(z.string()),
    ingress: z
      .array(
        z.object({
          from: z.array(z.unknown()).min(1),
          ports: z.array(z.object({ port: z.number() })),
        }),
      )
      .default([]),
  }),
});

function imageEnvironment(): Record<string, string> {
  const [, text = ''] = /^ENV (.+)$/m.exec(dockerfile) ?? [];
  const pairs = text
    .trim()
    .split(/\s+/)
    .map((pair) => pair.split('='));
  return Object.fromEntries(pairs.filter(([name]) => name?.startsWith('CONVOKE_')));
}

function imageCommand(): string[] {
  const [, command = '[]'] = /^CMD (\[.+\])$/m.exec(dockerfile) ?? [];
  return JSON.parse(command) as string[];
}

function roleOf(args: readonly string[]): Record<string, string> {
  const at = args.indexOf('--role');
  return at === -1 ? {} : { CONVOKE_ROLE: args[at + 1] ?? '' };
}
