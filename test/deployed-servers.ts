// The servers that the files in deploy/ start, as one shape for both ways of describing them.
import { parse, parseAllDocuments } from 'yaml';
import { z } from 'zod';
import { files, textOf } from './repository.ts';

export interface Container {
  readonly name: string;
  readonly image: string;
  readonly args: readonly string[];
  /** With something in the place of every secret. */
  readonly env: Readonly<Record<string, string>>;
  readonly ports: readonly number[];
  readonly probes: readonly string[];
  /** Between the wish that it ends and its death; undefined where nothing says so. */
  readonly graceSeconds: number | undefined;
  /** Of that, what passes before the server hears of it. */
  readonly pauseSeconds: number | undefined;
  /** Whether a program in it may have more rights than the one that started it, as `sudo` has. */
  readonly mayGainPrivileges: boolean;
}

const compose = z.object({
  services: z.record(
    z.string(),
    z.object({
      image: z.string(),
      command: z.array(z.string()).default([]),
      entrypoint: z.array(z.string()).optional(),
      environment: z.record(z.string(), z.string()).default({}),
      ports: z.array(z.string()).default([]),
      security_opt: z.array(z.string()).default([]),
      stop_grace_period: z
        .string()
        .regex(/^\d+s$/)
        .transform((text) => Number.parseInt(text, 10))
        .optional(),
    }),
  ),
});

export function composeServers(): Container[] {
  return files(/^deploy\/compose.*\.yaml$/).flatMap((path) => {
    const { services } = compose.parse(parse(textOf(path), { merge: true }));
    return Object.entries(services)
      .filter(([, { image, entrypoint }]) => image === 'convoke:local' && entrypoint === undefined)
      .map(([name, service]) => ({
        name: `${path} ${name}`,
        image: service.image,
        args: service.command,
        env: Object.fromEntries(
          Object.entries(service.environment).map(([key, text]) => [key, substituted(text)]),
        ),
        ports: service.ports.map((mapping) => Number(mapping.split(':').at(-1))),
        probes: [],
        graceSeconds: service.stop_grace_period,
        pauseSeconds: 0,
        mayGainPrivileges: !service.security_opt.includes('no-new-privileges:true'),
      }));
  });
}

/** `${NAME:-default}`, or something of a fit length for `${NAME:?…}`. */
function substituted(text: string): string {
  return text.replace(/\$\{\w+(?::-([^}]*)|:\?[^}]*)?\}/g, (_, fallback?: string) =>
    fallback === undefined ? 'something-secret-enough' : fallback,
  );
}

const probe = z
  .object({ httpGet: z.object({ path: z.string(), port: z.literal('http') }) })
  .optional();
const kind = z.object({ kind: z.enum(['Deployment', 'Job']) });
const workload = z.object({
  metadata: z.object({ name: z.string() }),
  spec: z.object({
    template: z.object({
      spec: z.object({
        terminationGracePeriodSeconds: z.number().optional(),
        containers: z.tuple([
          z.object({
            image: z.string(),
            args: z.array(z.string()),
            env: z.array(z.object({ name: z.string() })).default([]),
            envFrom: z.array(z.unknown()).default([]),
            ports: z.array(z.object({ containerPort: z.number() })).default([]),
            startupProbe: probe,
            livenessProbe: probe,
            readinessProbe: probe,
            securityContext: z.object({ allowPrivilegeEscalation: z.boolean() }),
            lifecycle: z
              .object({
                preStop: z.object({
                  exec: z.object({ command: z.tuple([z.literal('sleep'), z.string()]) }),
                }),
              })
              .optional(),
          }),
        ]),
      }),
    }),
  }),
});
const configMap = z.object({ data: z.record(z.string(), z.string()) });

/** The contents of the secret that an operator creates. */
const secrets: Readonly<Record<string, string>> = {
  CONVOKE_DATABASE_URL: 'postgres://convoke:secret@postgres:5432/convoke',
  CONVOKE_METRICS_TOKEN: 'something-secret-enough',
};

export function kubernetesServers(): Container[] {
  const { data } = configMap.parse(parse(textOf('deploy/kubernetes/config.yaml')));
  const documents = files(/^deploy\/kubernetes\/[\w-]+\.yaml$/).flatMap((path) =>
    Array.from(parseAllDocuments(textOf(path)), (document) => document.toJS() as unknown),
  );
  return documents.flatMap((document) => {
    if (!kind.safeParse(document).success) return [];
    const { metadata, spec } = workload.parse(document);
    const { containers, terminationGracePeriodSeconds } = spec.template.spec;
    const [container] = containers;
    const probes = [container.startupProbe, container.livenessProbe, container.readinessProbe];
    const own = container.env.map(({ name }) => [name, secrets[name] ?? 'something']);
    return [
      {
        name: `deploy/kubernetes ${metadata.name}`,
        image: container.image,
        args: container.args,
        env: { ...(container.envFrom.length > 0 ? data : {}), ...Object.fromEntries(own) },
        ports: container.ports.map(({ containerPort }) => containerPort),
        probes: probes.flatMap((asked) => asked?.httpGet.path ?? []),
        graceSeconds: terminationGracePeriodSeconds,
        pauseSeconds: Number(container.lifecycle?.preStop.exec.command[1] ?? 0),
        mayGainPrivileges: container.securityContext.allowPrivilegeEscalation,
      },
    ];
  });
}
