/** `POST /mcp`: transport checks before the protocol (origin, media types, JSON, batches). */
import { Reply, type HttpRequest } from '../../kernel/contract/index.js';
import { acceptsJson, isJson, allowsBatches, isOriginAllowed } from './transport-headers.js';
import { InvalidMessage, INVALID_REQUEST_CODE, readMessage } from './json-rpc-message.js';
import type { McpProtocol } from './mcp-protocol.js';

export interface McpEndpointDeps {
  protocol: () => Promise<McpProtocol>;
  baseUrl: () => string;
  allowedOrigins: readonly string[];
  onMessage: () => void;
}

/** From the range that JSON-RPC reserves for servers. */
const REJECTED_ERROR_CODE = -32_000;

const buildErrorReply = (status: number, code: number, message: string): Reply =>
  new Reply(status, JSON.stringify({ jsonrpc: '2.0', error: { code, message }, id: null })).header(
    'content-type',
    'application/json',
  );

export class McpEndpoint {
  constructor(private readonly parts: McpEndpointDeps) {}

  readonly handle = async (request: HttpRequest): Promise<Reply> => {
    const { headers } = request;
    if (!isOriginAllowed(headers['origin'], this.parts.baseUrl(), this.parts.allowedOrigins)) {
      return buildErrorReply(403, REJECTED_ERROR_CODE, 'This origin is not allowed; see mcp.allowed_origins.');
    }
    if (!acceptsJson(headers['accept']))
      return buildErrorReply(406, REJECTED_ERROR_CODE, 'The Accept header must allow application/json.');
    if (!isJson(headers['content-type']))
      return buildErrorReply(415, REJECTED_ERROR_CODE, 'The content type must be application/json.');
    const read = readMessage(request.body as Uint8Array);
    if (read instanceof InvalidMessage) return buildErrorReply(400, read.code, read.message);
    if (Array.isArray(read.body)) {
      if (!allowsBatches(headers['mcp-protocol-version'])) {
        return buildErrorReply(400, INVALID_REQUEST_CODE, 'Invalid request: this protocol revision has no batches.');
      }
      if (read.body.length === 0) return new Reply(202, null);
    }
    this.parts.onMessage();
    const protocol = await this.parts.protocol();
    return protocol.handleMessage(request, read.body);
  };
}
