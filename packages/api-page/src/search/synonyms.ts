/** Words that people search for and our pages call something else. */
export const synonyms: Readonly<Record<string, readonly string[]>> = {
  approve: ['answer', 'permission', 'decision'],
  auth: ['token', 'sign', 'credential'],
  backup: ['restore', 'export'],
  billing: ['usage', 'cost', 'budget'],
  cancel: ['stop', 'abort'],
  conversation: ['session'],
  cors: ['origin', 'browser'],
  cost: ['price', 'usage', 'budget'],
  crash: ['loss', 'lost', 'survive', 'killed'],
  delete: ['remove', 'offboard', 'end'],
  docker: ['container', 'image', 'compose'],
  error: ['refusal', 'failed'],
  gdpr: ['offboard', 'retention', 'remove'],
  helm: ['kubernetes'],
  human: ['person', 'approval', 'question'],
  idempotency: ['safe'],
  install: ['project', 'build', 'package'],
  java: ['language', 'client'],
  k8s: ['kubernetes'],
  limit: ['rate', 'bound', 'ceiling'],
  login: ['sign'],
  macos: ['linux', 'sandbox'],
  monitor: ['metrics', 'alerts'],
  nextjs: ['browser', 'chat', 'page'],
  nginx: ['proxy', 'balancer'],
  oidc: ['identity', 'provider'],
  ollama: ['compatible', 'openai'],
  pagination: ['cursor', 'list', 'limit'],
  postgresql: ['postgres', 'database'],
  price: ['cost', 'usage'],
  privacy: ['offboard', 'retention'],
  python: ['client'],
  rust: ['language', 'client'],
  shutdown: ['stop', 'drain'],
  signature: ['signed', 'verify'],
  sse: ['stream', 'event'],
  sso: ['oidc', 'identity', 'provider'],
  subagent: ['call', 'agent'],
  thumbs: ['feedback', 'rating'],
  timeout: ['limit', 'wait', 'deadline'],
  typescript: ['sdk', 'javascript'],
  unit: ['test'],
  vscode: ['editor'],
  websocket: ['stream', 'browser'],
  windows: ['linux', 'sandbox'],
};

/** The same for operations: words of their callers, by id. */
export const alsoCalled: Readonly<Record<string, string>> = {
  answer_interaction: 'approve allow deny decide',
  follow_run_events: 'reconnect sse',
  stop_session: 'delete terminate end',
  upload_file: 'attach',
};

/**
 * Operations whose words mean something else to most callers: a retry is one of their own request, and MCP is the
 * protocol of their agents or assistants.
 */
export const seldomMeant: ReadonlySet<string> = new Set(['retry_tenant', 'call_mcp', 'resume_mcp']);
