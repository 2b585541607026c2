/**
 * Each request gets its own server object, so that any process can respond. Older revisions use the
 * library's transport directly, because its handler would respond with an event stream instead of
 * JSON.
 */
import type * as Sdk from '@modelcontextprotocol/server';
import { Reply, type HttpRequest } from '../../kernel/contract/index.js';
import type { Logger } from '../../ports/logger.js';
import { INSTRUCTIONS } from './instructions.js';
import type { ToolRegistry } from './tool-registry.js';

export interface McpProtocolDeps {
  sdk: typeof Sdk;
  tools: () => ToolRegistry;
  version: string;
  log: Logger;
}

/** The library requires both. */
const ACCEPT_HEADER = 'application/json, text/event-stream';
/** A `Request` needs a URL; nothing reads it. */
const REQUEST_URL = 'http://localhost/mcp';

export class McpProtocol {
  readonly #callers = new WeakMap<Request, HttpRequest>();
  readonly #current: Sdk.McpHttpHandler;
  readonly #report: (error: Error) => void;

  constructor(private readonly parts: McpProtocolDeps) {
    this.#report = (error) => parts.log.debug({ err: error }, 'an MCP request was rejected');
    this.#current = parts.sdk.createMcpHandler(
      ({ requestInfo }) => this.#createServer(this.#callers.get(requestInfo as Request) as HttpRequest),
      { legacy: 'reject', onerror: this.#report },
    );
  }

  async handleMessage(caller: HttpRequest, body: unknown): Promise<Reply> {
    const request = new Request(REQUEST_URL, { method: 'POST', headers: buildHeaders(caller) });
    const legacy = await this.parts.sdk.isLegacyRequest(request, body);
    if (legacy) return toReply(await this.#handleLegacy(request, caller, body));
    this.#callers.set(request, caller);
    return toReply(await this.#current.fetch(request, { parsedBody: body }));
  }

  close(): Promise<void> {
    return this.#current.close();
  }

  async #handleLegacy(request: Request, caller: HttpRequest, body: unknown): Promise<Response> {
    const transport = new this.parts.sdk.WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
    const server = this.#createServer(caller);
    await server.connect(transport);
    try {
      return await transport.handleRequest(request, { parsedBody: body });
    } finally {
      await server.close();
    }
  }

  #createServer(caller: HttpRequest): Sdk.Server {
    const { sdk, tools, version } = this.parts;
    const server = new sdk.Server(
      { name: 'aos', title: 'AOS', version },
      { capabilities: { tools: {} }, instructions: INSTRUCTIONS },
    );
    Object.assign(server, { onerror: this.#report });
    server.setRequestHandler('tools/list', () => ({ tools: tools().listTools() }));
    server.setRequestHandler('tools/call', async ({ params }) => {
      const result = await this.#callTool(params.name, params.arguments ?? {}, caller);
      if (result !== null) return result;
      throw new sdk.ProtocolError(sdk.ProtocolErrorCode.InvalidParams, `Tool not found.`);
    });
    return server;
  }

  /** An internal error contains no details, which are only logged. */
  async #callTool(
    name: string,
    args: Record<string, unknown>,
    caller: HttpRequest,
  ): Promise<Sdk.CallToolResult | null> {
    try {
      return await this.parts.tools().callTool(name, args, caller);
    } catch (err) {
      this.parts.log.error({ err, request_id: caller.id, tool: name }, 'a tool failed');
      const { sdk } = this.parts;
      throw new sdk.ProtocolError(
        sdk.ProtocolErrorCode.InternalError,
        `Internal error; the log has details under ${caller.id}.`,
      );
    }
  }
}

function buildHeaders({ headers }: HttpRequest): Record<string, string> {
  const own = Object.entries(headers).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && entry[0].startsWith('mcp-'),
  );
  return { ...Object.fromEntries(own), accept: ACCEPT_HEADER, 'content-type': 'application/json' };
}

/** Streams of the library end immediately, because this server sends no notifications. */
async function toReply(response: Response): Promise<Reply> {
  const text = await response.text();
  const reply = new Reply(response.status, text === '' ? null : text);
  const type = response.headers.get('content-type');
  return type === null ? reply : reply.header('content-type', type);
}
