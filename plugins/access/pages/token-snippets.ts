interface TokenSnippet {
  label: string;
  text: string;
}

interface SnippetInput {
  baseUrl: string;
  secret: string;
  /** Null for all projects; an example is used. */
  project: string | null;
}

const JSON_TYPE_OPTION = `-H 'Content-Type: application/json'`;

const buildHeartbeatCommand = ({ baseUrl, secret }: SnippetInput): TokenSnippet => ({
  label: 'Send a heartbeat',
  text: `curl -fsS -m 10 --retry 3 -o /dev/null ${baseUrl}/ping/${secret}`,
});

const SNIPPET_BUILDERS: Readonly<Record<string, (given: SnippetInput) => TokenSnippet[]>> = {
  application: (given) => {
    const error = { project: given.project ?? 'shop', error_level: 'error', error_message: 'it works' };
    const ping = { source: `${given.project ?? 'shop'}-1`, interval: 60 };
    const call = (path: string, body: object): string =>
      [
        `curl ${given.baseUrl}${path} \\`,
        `  -H "Authorization: Bearer ${given.secret}" ${JSON_TYPE_OPTION} \\`,
        `  -d '${JSON.stringify(body)}'`,
      ].join('\n');
    return [
      { label: 'Report an error', text: call('/api/errors/v1/report', error) },
      { label: 'Send a heartbeat', text: call('/api/watchdog/v1/ping', ping) },
    ];
  },
  agent: ({ baseUrl, secret }) => [
    {
      label: 'Claude Code',
      text: `export SVC_TOKEN=${secret}\nclaude mcp add --transport http aos ${baseUrl}/mcp --header 'Authorization: Bearer \${SVC_TOKEN}'`,
    },
    {
      label: 'Codex',
      text: `export SVC_TOKEN=${secret}\ncodex mcp add aos --url ${baseUrl}/mcp --bearer-token-env-var SVC_TOKEN`,
    },
    {
      label: 'Other MCP clients',
      text: JSON.stringify(
        {
          mcpServers: { aos: { type: 'http', url: `${baseUrl}/mcp`, headers: { Authorization: `Bearer ${secret}` } } },
        },
        null,
        2,
      ),
    },
  ],
  ci: ({ baseUrl, secret, project }) => [
    {
      label: 'CI variables (mark the token as masked)',
      text: `SVC_URL=${baseUrl}\nSVC_TOKEN=${secret}`,
    },
    {
      label: 'Publish a release',
      text: `packager --project ${project ?? 'shop'} --version 1.0.0 --publish-dir dist`,
    },
  ],
  monitoring: (given) => [
    {
      label: 'Prometheus',
      text: [
        'scrape_configs:',
        '  - job_name: aos',
        '    authorization:',
        `      credentials: ${given.secret}`,
        '    static_configs:',
        `      - targets: ['${new URL(given.baseUrl).host}']`,
      ].join('\n'),
    },
    { label: 'Health details', text: `curl -H "Authorization: Bearer ${given.secret}" ${given.baseUrl}/api/health` },
  ],
};

/** @param preset unknown: a heartbeat if the scopes allow it */
export function buildTokenSnippets(preset: string, scopes: readonly string[], given: SnippetInput): TokenSnippet[] {
  return SNIPPET_BUILDERS[preset]?.(given) ?? (scopes.includes('watchdog:ping') ? [buildHeartbeatCommand(given)] : []);
}
