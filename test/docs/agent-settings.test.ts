/**
 * The settings of coding agents in the guides: each connects as printed, with the token from the
 * environment.
 */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { expect } from 'chai';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { TestService } from '../support/service.js';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const ADDRESS = 'https://aos.example.org/mcp';

interface Setting {
  /** Client, and the kind of the block. */
  name: string;
  url: string;
  /** The header's value as it is printed. */
  authorization: string;
  server: Record<string, unknown>;
}

interface Server extends Record<string, unknown> {
  url: string;
  headers: { Authorization: string };
}

/** The lines `key = "value"` of one table, which is all that the guide's TOML has. */
function readToml(text: string): Record<string, string> {
  const [table, ...lines] = text.trim().split('\n');
  expect(table).to.equal('[mcp_servers.aos]');
  return Object.fromEntries(
    lines.map((line) => {
      const [, key, value] = /^(\w+) = "([^"\\]*)"$/.exec(line) ?? [];
      if (key === undefined || value === undefined) throw new Error(`no line of TOML: ${line}`);
      return [key, value];
    }),
  );
}

function settingOf(client: string, kind: string, block: string): Setting[] {
  const name = `${client} (${kind})`;
  if (kind === 'json') {
    const { mcpServers, servers = mcpServers } = JSON.parse(block) as Record<string, { aos: Server }>;
    const server = servers?.['aos'] as Server;
    return [{ name, url: server.url, authorization: server.headers.Authorization, server }];
  }
  if (kind === 'toml') {
    const server = readToml(block);
    const { url = '', bearer_token_env_var: variable = '' } = server;
    return [{ name, url, authorization: `Bearer \${${variable}}`, server }];
  }
  return block.split('\n').flatMap((line) => {
    const command = /^\$ (?:claude|gemini) mcp add --transport http aos (\S+) --header 'Authorization: ([^']+)'$/.exec(
      line,
    );
    if (command !== null) return [{ name, url: command[1] ?? '', authorization: command[2] ?? '', server: {} }];
    const codex = /^\$ codex mcp add aos --url (\S+) --bearer-token-env-var (\w+)$/.exec(line);
    return codex === null
      ? []
      : [{ name, url: codex[1] ?? '', authorization: `Bearer \${${codex[2] ?? ''}}`, server: {} }];
  });
}

async function settings(): Promise<Setting[]> {
  const page = await readFile(join(ROOT, 'docs/agents.md'), 'utf8');
  const part = page.slice(page.indexOf('### Settings of coding agents'), page.indexOf('## Work on an issue'));
  return part.split(/^(?=\*\*)/m).flatMap((section) => {
    const [, client = ''] = /^\*\*([^*]+)\*\*/.exec(section) ?? [];
    return [...section.matchAll(/^```(\w*)\n([\s\S]*?)^```/gm)].flatMap(([, kind = '', block = '']) =>
      settingOf(client, kind || 'command', block),
    );
  });
}

/** Where each client takes a value from, as its documentation has it. */
const EXPANDED: Record<string, (value: string, token: string) => string> = {
  'Claude Code': (value, token) => value.replace('${SVC_TOKEN}', token),
  Codex: (value, token) => value.replace('${SVC_TOKEN}', token),
  'Gemini CLI': (value, token) => value.replace('${SVC_TOKEN}', token),
  Cursor: (value, token) => value.replace('${env:SVC_TOKEN}', token),
  'VS Code': (value, token) => value.replace('${input:aos-token}', token),
  // Its secret holds the whole header.
  "GitHub's coding agent": (value, token) => value.replace('$COPILOT_MCP_AOS', `Bearer ${token}`),
};

describe('docs: settings of coding agents', () => {
  let service: TestService;
  before(async () => {
    service = await TestService.createInProcess();
  });
  after(() => service.dispose());

  it('lists every client, with its command where one exists', async () => {
    expect((await settings()).map(({ name }) => name)).to.deep.equal([
      'Claude Code (command)',
      'Claude Code (json)',
      'Codex (command)',
      'Codex (toml)',
      'Cursor (json)',
      'VS Code (json)',
      'Gemini CLI (command)',
      'Gemini CLI (json)',
      "GitHub's coding agent (json)",
    ]);
  });

  it('connects with each client’s settings, and lists the tools', async () => {
    const token = await service.createToken('bugtracker:read');
    for (const { name, url, authorization } of await settings()) {
      expect(url, name).to.equal(ADDRESS);
      expect(authorization, name).to.not.include('svc_');
      const client = EXPANDED[name.slice(0, name.lastIndexOf(' ('))];
      const header = client?.(authorization, token) ?? '';
      expect(header, name).to.equal(`Bearer ${token}`);
      const agent = new Client({ name: 'docs', version: '1.0.0' });
      await agent.connect(
        new StreamableHTTPClientTransport(new URL(url.replace('https://aos.example.org', service.url)), {
          requestInit: { headers: { authorization: header } },
        }),
      );
      expect(
        (await agent.listTools()).tools.map((tool) => tool.name),
        name,
      ).to.include.members(['next', 'resolve']);
      await agent.close();
    }
  });

  it('names the transport as each client expects it', async () => {
    const found = new Map((await settings()).map(({ name, server }) => [name, server]));
    for (const name of ['Claude Code (json)', 'VS Code (json)', 'Gemini CLI (json)', "GitHub's coding agent (json)"])
      expect(found.get(name), name).to.include({ type: 'http' });
    expect(found.get("GitHub's coding agent (json)")?.['tools']).to.deep.equal(['*']);
    expect(found.get('Codex (toml)')).to.include({ default_tools_approval_mode: 'approve' });
  });

  it('starts an agent with permission to use the tools, and with the token of the request', async () => {
    const page = await readFile(join(ROOT, 'docs/dispatch.md'), 'utf8');
    const lines = page.match(/(?:claude(?:-code)? -p|codex exec)(?:.*\\\n)*.*/g) ?? [];
    expect(lines).to.have.lengthOf(3);
    for (const line of lines) {
      if (line.startsWith('claude'))
        expect(line)
          .to.match(/--mcp-config \S/)
          .and.match(/--allowedTools "mcp__aos,/);
      else expect(line).to.include(String.raw`mcp_servers.aos.default_tools_approval_mode=\"approve\"`);
      expect(line).to.not.include('svc_');
    }
    const blocks = [...page.matchAll(/^```json\n([\s\S]*?)^```/gm)].map(([, text = '']) => text);
    const inline = [...(/--mcp-config '(\{.*\})'/.exec(page)?.slice(1) ?? [])];
    const configs = [...blocks, ...inline].filter((text) => text.includes('mcpServers'));
    expect(configs).to.have.lengthOf(2);
    for (const text of configs)
      expect(JSON.parse(text)).to.deep.equal({
        mcpServers: {
          aos: { type: 'http', url: '${AOS_MCP_URL}', headers: { Authorization: 'Bearer ${SVC_TOKEN}' } },
        },
      });
  });
});
