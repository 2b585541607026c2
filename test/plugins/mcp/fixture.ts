/** A running program with a project and tokens, and the official client in front of it. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { TestService } from '../../support/service.js';

export const ALL = 'bugtracker:report,bugtracker:read,bugtracker:manage';

export interface Answered {
  error: { code: string; message: string; fields?: Record<string, string>; claim?: { agent: string } } | null;
  data: Record<string, unknown>;
  text: string;
}

export class Agent {
  private constructor(
    readonly client: Client,
    readonly url: string,
  ) {}

  /** @param pin a revision that the client insists on; otherwise what it negotiates by itself */
  static async connect(url: string, token: string, pin?: string): Promise<Agent> {
    const client = new Client(
      { name: 'test-agent', version: '1.0.0' },
      pin === undefined ? {} : { versionNegotiation: { mode: { pin } } },
    );
    const transport = new StreamableHTTPClientTransport(new URL('/mcp', url), {
      requestInit: { headers: { authorization: `Bearer ${token}` } },
    });
    await client.connect(transport);
    return new Agent(client, url);
  }

  /** A tool's answer. */
  async call(name: string, args: Record<string, unknown> = {}): Promise<Answered> {
    const result = await this.client.callTool({ name, arguments: args });
    const data = (result.structuredContent ?? {}) as Record<string, unknown>;
    const [first] = result.content;
    return {
      error: result.isError === true ? (data['error'] as Answered['error']) : null,
      data,
      text: first?.type === 'text' ? first.text : '',
    };
  }

  close(): Promise<void> {
    return this.client.close();
  }
}

export interface Granted {
  item: { id: string; ref: string; status: string; project: string; title: string; claim?: { agent: string } };
  lease: { claim_token: string; expires_at: string; lease_seconds: number };
}

export const granted = ({ data, error, text }: Answered): Granted => {
  if (error !== null || data['item'] === null || data['lease'] === undefined) throw new Error(`no lease: ${text}`);
  return data as unknown as Granted;
};

/** A token bound to a monitor source. */
export async function sourceToken(service: TestService, source: string): Promise<string> {
  const args = ['token', 'create', '--name', 'wd', '--scopes', 'watchdog:ping', '--source', source];
  return (await service.runCommand<{ token: string }>(args)).token;
}

export async function createToken(service: TestService, scopes: string): Promise<{ id: string; token: string }> {
  return service.runCommand(['token', 'create', '--name', 'short lived', '--scopes', scopes]);
}
