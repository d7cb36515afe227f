import type { JsonObject } from '@convoke/sdk';

/** What "copy as" needs to know about a run. */
export interface RunToCopy {
  readonly baseUrl: string;
  readonly organizationId: string;
  readonly tenantId: string;
  readonly agentName: string;
  readonly sessionId: string;
  readonly input: JsonObject;
}

/** Without a token: a copied command must not carry a person's rights into a chat. */
export function curlOf({ baseUrl, organizationId, tenantId, sessionId, input }: RunToCopy): string {
  const body = JSON.stringify({ input });
  return [
    `curl ${quoted(`${baseUrl}/v1/sessions/${sessionId}/runs`)}`,
    `  -H "Authorization: Bearer $CONVOKE_TOKEN"`,
    `  -H ${quoted(`X-Organization-ID: ${organizationId}`)}`,
    `  -H ${quoted(`X-Workspace-Tenant-ID: ${tenantId}`)}`,
    `  -H 'Content-Type: application/json'`,
    `  -d ${quoted(body)}`,
  ].join(' \\\n');
}

export function sdkOf({ baseUrl, tenantId, sessionId, input }: RunToCopy): string {
  const prompt = input['prompt'];
  const isPrompt = typeof prompt === 'string' && Object.keys(input).length === 1;
  const argument = isPrompt ? JSON.stringify(prompt) : JSON.stringify(input, null, 2);
  return [
    `import { Convoke } from '@convoke/sdk';`,
    ``,
    `const convoke = new Convoke({`,
    `  baseUrl: ${JSON.stringify(baseUrl)},`,
    `  clientId,`,
    `  clientSecret,`,
    `  workspace: { tenantId: ${JSON.stringify(tenantId)} },`,
    `});`,
    `const run = await convoke.sessions.at(${JSON.stringify(sessionId)}).run(${argument});`,
    `console.log(await run.text());`,
  ].join('\n');
}

/** The command line takes a prompt and files; an input with more members has no such command. */
export function cliOf({ agentName, sessionId, input }: RunToCopy): string | undefined {
  const { prompt, files = [], ...others } = input;
  const isTyped = typeof prompt === 'string' && Array.isArray(files);
  if (!isTyped || Object.keys(others).length > 0) return undefined;
  const attached = files.map((id) => ` --file ${quoted(String(id))}`).join('');
  return `convoke invoke ${agentName} ${quoted(prompt)} --session ${sessionId}${attached}`;
}

/** One argument for a POSIX shell. */
export function quoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Lines of an environment file with a new secret. */
export function environmentOf(values: Readonly<Record<string, string>>): string {
  return Object.entries(values)
    .map(([name, value]) => `${name}=${value}\n`)
    .join('');
}
