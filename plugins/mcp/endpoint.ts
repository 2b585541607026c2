/** `POST /mcp`: transport checks before the protocol (origin, media types, JSON, batches). */
import { Reply, type HttpRequest } from '../../kernel/contract.js';
import { acceptsJson, isJson, allowsBatches, isOriginAllowed } from './headers.js';
import { BadMessage, INVALID_REQUEST, readMessage } from './message.js';
import type { Protocol } from './protocol.js';

export interface EndpointParts {
  protocol: () => Promise<Protocol>;
  baseUrl: () => string;
  allowedOrigins: readonly string[];
  connected: () => void;
}

/** From the range that JSON-RPC reserves for servers. */
const REFUSED = -32_000;

const refusal = (status: number, code: number, message: string): Reply =>
  new Reply(status, JSON.stringify({ jsonrpc: '2.0', error: { code, message }, id: null })).header(
    'content-type',
    'application/json',
  );

export class Endpoint {
  constructor(private readonly parts: EndpointParts) {}

  readonly handle = async (request: HttpRequest): Promise<Reply> => {
    const { headers } = request;
    if (!isOriginAllowed(headers['origin'], this.parts.baseUrl(), this.parts.allowedOrigins)) {
      return refusal(403, REFUSED, 'Pages of this origin may not call; see mcp.allowed_origins.');
    }
    if (!acceptsJson(headers['accept'])) return refusal(406, REFUSED, 'Answers are application/json; accept it.');
    if (!isJson(headers['content-type'])) return refusal(415, REFUSED, 'The content type must be application/json.');
    const read = readMessage(request.body as Uint8Array);
    if (read instanceof BadMessage) return refusal(400, read.code, read.message);
    if (Array.isArray(read.body)) {
      if (!allowsBatches(headers['mcp-protocol-version'])) {
        return refusal(400, INVALID_REQUEST, 'Invalid request: this protocol revision has no batches.');
      }
      if (read.body.length === 0) return new Reply(202, null);
    }
    this.parts.connected();
    const protocol = await this.parts.protocol();
    return protocol.answer(request, read.body);
  };
}
