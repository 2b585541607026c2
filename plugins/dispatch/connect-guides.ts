/** What to paste into a coding agent to connect it (docs/agents.md has more of each). */
export interface ConnectGuide {
  id: string;
  name: string;
  /** Where the text belongs; null: a shell. */
  place: string | null;
  text: string;
}

const BEARER = 'Bearer ${SVC_TOKEN}';

const formatServer = (fields: object, root = 'mcpServers'): string =>
  JSON.stringify({ [root]: { aos: fields } }, null, 2);

/** @param url of the MCP endpoint */
export const listConnectGuides = (url: string): ConnectGuide[] => [
  {
    id: 'claude',
    name: 'Claude Code',
    place: null,
    text: `claude mcp add --transport http aos ${url} --header 'Authorization: ${BEARER}'`,
  },
  {
    id: 'cursor',
    name: 'Cursor',
    place: '.cursor/mcp.json',
    text: formatServer({ url, headers: { Authorization: 'Bearer ${env:SVC_TOKEN}' } }),
  },
  {
    id: 'codex',
    name: 'Codex',
    place: null,
    text: `codex mcp add aos --url ${url} --bearer-token-env-var SVC_TOKEN`,
  },
  {
    id: 'gemini',
    name: 'Gemini CLI',
    place: null,
    text: `gemini mcp add --transport http aos ${url} --header 'Authorization: ${BEARER}'`,
  },
  {
    id: 'others',
    name: 'Others',
    place: '.mcp.json',
    text: formatServer({ type: 'http', url, headers: { Authorization: BEARER } }),
  },
];
