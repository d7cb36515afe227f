/** Names that OpenTelemetry's conventions have for providers, where agents write others (D-1060). */
const conventionNames: ReadonlyMap<string, string> = new Map([
  ['google', 'gcp.gemini'],
  ['vertex', 'gcp.vertex_ai'],
  ['google-vertex', 'gcp.vertex_ai'],
  ['azure', 'azure.ai.openai'],
  ['bedrock', 'aws.bedrock'],
  ['amazon-bedrock', 'aws.bedrock'],
  ['mistral', 'mistral_ai'],
  ['moonshotai', 'moonshot_ai'],
  ['xai', 'x_ai'],
]);

/** The name of a model without its provider: agents name it `provider/model`. */
export function modelName(model: string): string {
  return model.slice(model.indexOf('/') + 1) || model;
}

/** The provider in `provider/model` as telemetry names it; `convoke` where none is named. */
export function telemetryProvider(model: string | undefined): string {
  const end = model?.indexOf('/') ?? -1;
  const provider = model?.slice(0, Math.max(end, 0)) || 'convoke';
  return conventionNames.get(provider) ?? provider;
}
