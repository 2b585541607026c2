/**
 * The Model Context Protocol through its official library: every revision that the library speaks, without sessions.
 * Each request gets its own server object, so any process behind a load balancer can answer it. Rejected: sessions and
 * event streams, which would tie an agent to one process and which no tool here needs.
 *
 * Revisions up to 2025-11-25 are connected to the library's transport here, because the library itself would answer
 * each call as an event stream. Proxies and people at a terminal can read one JSON object.
 */
import type * as Sdk from '@modelcontextprotocol/server';
import { Reply, type HttpRequest } from '../../kernel/contract.js';
import type { Logger } from '../../ports/logger.js';
import { INSTRUCTIONS } from './guide.js';
import type { Toolbox } from './toolbox.js';

export interface ProtocolParts {
  sdk: typeof Sdk;
  tools: () => Toolbox;
  version: string;
  log: Logger;
}

/** The library requires both. The answer is JSON, and `endpoint.ts` has checked that the client accepts it. */
const ACCEPT = 'application/json, text/event-stream';
/** A `Request` must have an address; nothing reads this one. */
const ADDRESS = 'http://localhost/mcp';

export class Protocol {
  /** The library's request → the caller's request. */
  readonly #callers = new WeakMap<Request, HttpRequest>();
  readonly #current: Sdk.McpHttpHandler;
  readonly #report: (error: Error) => void;

  constructor(private readonly parts: ProtocolParts) {
    this.#report = (error) => parts.log.debug({ err: error }, 'an MCP request was refused');
    this.#current = parts.sdk.createMcpHandler(
      ({ requestInfo }) => this.#server(this.#callers.get(requestInfo as Request) as HttpRequest),
      { legacy: 'reject', onerror: this.#report },
    );
  }

  /** Answers one parsed message or batch. */
  async answer(caller: HttpRequest, body: unknown): Promise<Reply> {
    const request = new Request(ADDRESS, { method: 'POST', headers: headersOf(caller) });
    const legacy = await this.parts.sdk.isLegacyRequest(request, body);
    if (legacy) return replyOf(await this.#legacy(request, caller, body));
    this.#callers.set(request, caller);
    return replyOf(await this.#current.fetch(request, { parsedBody: body }));
  }

  close(): Promise<void> {
    return this.#current.close();
  }

  async #legacy(request: Request, caller: HttpRequest, body: unknown): Promise<Response> {
    const transport = new this.parts.sdk.WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
    const server = this.#server(caller);
    await server.connect(transport);
    try {
      return await transport.handleRequest(request, { parsedBody: body });
    } finally {
      await server.close();
    }
  }

  #server(caller: HttpRequest): Sdk.Server {
    const { sdk, tools, version } = this.parts;
    const server = new sdk.Server(
      { name: 'aos', title: 'AOS', version },
      { capabilities: { tools: {} }, instructions: INSTRUCTIONS },
    );
    Object.assign(server, { onerror: this.#report });
    server.setRequestHandler('tools/list', () => ({ tools: tools().list() }));
    server.setRequestHandler('tools/call', async ({ params }) => {
      const result = await this.#call(params.name, params.arguments ?? {}, caller);
      if (result !== null) return result;
      throw new sdk.ProtocolError(sdk.ProtocolErrorCode.InvalidParams, `There is no tool of this name.`);
    });
    return server;
  }

  /** The error for a fault of the service carries no details; the log has them. */
  async #call(name: string, args: Record<string, unknown>, caller: HttpRequest): Promise<Sdk.CallToolResult | null> {
    try {
      return await this.parts.tools().call(name, args, caller);
    } catch (err) {
      this.parts.log.error({ err, request_id: caller.id, tool: name }, 'a tool failed');
      const { sdk } = this.parts;
      throw new sdk.ProtocolError(
        sdk.ProtocolErrorCode.InternalError,
        `The service failed; the log has it under ${caller.id}.`,
      );
    }
  }
}

function headersOf({ headers }: HttpRequest): Record<string, string> {
  const own = Object.entries(headers).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && entry[0].startsWith('mcp-'),
  );
  return { ...Object.fromEntries(own), accept: ACCEPT, 'content-type': 'application/json' };
}

/** Reads the whole answer. The library's streams end at once here, because this server sends no later notifications. */
async function replyOf(response: Response): Promise<Reply> {
  const text = await response.text();
  const reply = new Reply(response.status, text === '' ? null : text);
  const type = response.headers.get('content-type');
  return type === null ? reply : reply.header('content-type', type);
}
